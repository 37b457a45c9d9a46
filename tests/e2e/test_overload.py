#!/usr/bin/env python3
"""Too many clients, slow ones, broken ones, at the door of the real daemon. All the time /healthz is
asked on connections of its own and must be answered; memory stays inside what the configuration adds
up to; nobody is refused without being told when to come again; what was acknowledged is there in the
end, once; descriptors come back. Prints a table: case, what happened, /healthz, memory.

    test_overload.py [long] [case ...]

Covers: server/http/http_slots.c server/http/http_workers.c server/http/http_intake.c"""
import gzip, json, multiprocessing, os, pathlib, random, re, resource, select, socket, sqlite3, struct
import sys, threading, time

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon
from traffic import DEMO

LONG = 'long' in sys.argv[1:]
ONLY = [a for a in sys.argv[1:] if a != 'long']
SANITIZED = 'asan' in os.environ.get('BUILD', '') or 'tsan' in os.environ.get('BUILD', '')
MB = 1 << 20
APP = 'com.example.load'
TIMEOUT = 8 if SANITIZED else 2
CONNECTIONS = 512
ENV = {'STALLSYM_HTTP_CONNECTIONS': str(CONNECTIONS), 'STALLSYM_HTTP_TIMEOUT_S': str(TIMEOUT),
       'STALLSYM_HTTP_THREADS': '2', 'STALLSYM_HTTP_BUFFERED_BYTES': '64M', 'STALLSYM_HTTP_UPLOADS': '8',
       'STALLSYM_HTTP_READ_BYTES': '16M', 'STALLSYM_INGEST_MEMORY_BYTES': '64M',
       'STALLSYM_STORAGE_QUEUE_HIGH': '64', 'STALLSYM_STORAGE_BUSY_MS': '60000'}
# README, "Memory": what the keys above add up to, and 64 MB for the rest.
CAP = (64 + CONNECTIONS * 64 / 1024 + 64 + 8 * 1 + 2 * (20 * 8 + 64) + 2 * (16 + 64)) * MB
TOKEN = b'Authorization: Bearer test-admin-token\r\n'
POST = b'POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' + TOKEN
HEALTH = b'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'


def batch(ids):
    return json.dumps({'app': {'bundle_id': APP, 'version': '1'}, 'reports': [
        {'id': i, 'kind': 'stall', 'duration_ms': 900, 'stack': ['0x1000', '0x2000']} for i in ids]}).encode()


class Ids:
    """Ids of reports, and which of them the daemon has acknowledged."""

    def __init__(self):
        self.lock, self.last, self.kept = threading.Lock(), 0, set()

    def take(self, count):
        with self.lock:
            self.last += count
            return ['load-%d' % i for i in range(self.last - count, self.last)]

    def keep(self, ids):
        with self.lock:
            self.kept.update(ids)


class Pulse:
    """Another process asks /healthz every 20 ms, each time on a new connection."""

    def __init__(self, port):
        self.port, self.mine = port, multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.run, daemon=True)
        self.process.start()

    def ask(self):
        begin = time.monotonic()
        try:
            with socket.create_connection(('127.0.0.1', self.port), 10) as s:
                s.settimeout(10)
                s.sendall(HEALTH)
                ok = s.recv(4096).startswith(b'HTTP/1.1 200 ')
        except OSError:
            ok = False
        return (time.monotonic() - begin) * 1000, ok

    def run(self):
        samples = []
        while True:
            samples.append(self.ask())
            if self.mine[1].poll(0.02):
                self.mine[1].recv()
                self.mine[1].send(samples)
                samples = []

    def take(self):
        self.mine[0].send(0)
        return self.mine[0].recv()

    def end(self):
        self.process.kill()
        self.process.join()


class Client:
    """A socket, and what came back."""

    def __init__(self, d, data=b'', buffer=0):
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(20)
        self.socket.connect(('127.0.0.1', d.port))
        self.got, self.ended = b'', False
        self.send(data)

    def send(self, data):
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            self.ended = True
            return False

    def read(self, seconds=20):
        """One answer, or None when the daemon ended the connection."""
        deadline = time.monotonic() + seconds
        while True:
            head, blank, rest = self.got.partition(b'\r\n\r\n')
            if blank:
                length = int(re.search(rb'(?i)content-length: (\d+)', head)[1]) \
                    if b' 100 ' not in head[:14] else 0
                if len(rest) >= length:
                    self.got = rest[length:]
                    return Reply(head, rest[:length])
            left = deadline - time.monotonic()
            assert left > 0, ('no answer', self.got[:200])
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 16)
            except socket.timeout:
                continue
            except OSError:
                data = b''
            if not data:
                self.ended = True
                return None
            self.got += data

    def closed(self):
        """Whether the daemon has ended it; what it sent before is thrown away."""
        while not self.ended:
            ready, _, _ = select_one(self.socket)
            if not ready:
                return False
            try:
                self.ended = not self.socket.recv(1 << 16)
            except OSError:
                self.ended = True
        return True

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.socket.close()

    def close(self):
        self.socket.close()


def select_one(s):
    p = select.poll() # numbers above 1024
    p.register(s, select.POLLIN)
    return p.poll(0), None, None


class Reply:
    def __init__(self, head, body):
        self.head, self.body = head.decode(), body
        self.status = int(self.head.split()[1])

    def header(self, name):
        found = re.search('(?im)^%s: *(.*?)\r?$' % name, self.head)
        return found[1] if found else None

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return '%s %s' % (self.head, self.body[:300])


def refused(reply, *statuses):
    assert reply.status in statuses, reply
    if reply.status in (429, 503):
        assert int(reply.header('Retry-After')) > 0, reply
    assert reply.header('Content-Type') == 'application/problem+json', reply
    return reply


def until(true, seconds, what):
    deadline = time.monotonic() + seconds * (5 if SANITIZED else 1)
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def memory(d, key='VmRSS'):
    text = pathlib.Path('/proc/%d/status' % d.process.pid).read_text()
    return int(re.search(key + r':\s+(\d+)', text)[1]) << 10


def peak_from_now_on(d):
    pathlib.Path('/proc/%d/clear_refs' % d.process.pid).write_text('5')


def descriptors(d):
    return len(os.listdir('/proc/%d/fd' % d.process.pid))


def post(d, ids, count=1):
    """A batch over a connection of its own; acknowledged or refused with words."""
    mine = ids.take(count)
    answer = d.request('POST', '/v1/reports', batch(mine), {'Content-Type': 'application/json'})
    if answer.status == 202:
        ids.keep(mine)
    else:
        assert answer.status in (503, 429) and int(answer.headers['Retry-After']) > 0, answer
    return answer.status


# --- cases: each returns what happened, in words -----------------------------------------------------

def full_queue(d, ids):
    """The writer waits for another program's lock: its queue fills up to the mark, not further."""
    clients, statuses = [], {}
    base = sqlite3.connect(d.folder / 'data/stallsym.db', isolation_level=None)
    base.execute('BEGIN IMMEDIATE')
    try:
        for _ in range(200):
            mine = ids.take(1)
            body = batch(mine)
            clients.append((Client(d, POST + b'Content-Length: %d\r\n\r\n' % len(body) + body), mine))
            if len(clients) % 2: # no more to say, but still listening
                clients[-1][0].socket.shutdown(socket.SHUT_WR)
        time.sleep(0.5)
        early = Client(d, POST + b'Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n')
        refused(early.read(), 503)
        assert early.read() is None # what it would have sent was not waited for
        chunked = Client(d, POST + b'Transfer-Encoding: chunked\r\n\r\n')
        refused(chunked.read(), 503)
        large = Client(d, POST + b'Content-Length: 5000000\r\n\r\n')
        refused(large.read(), 503)
        assert d.request('GET', '/readyz').status == 503
        for c in (early, chunked, large):
            c.close()
    finally:
        base.execute('ROLLBACK')
        base.close()
    for c, mine in clients:
        reply = c.read()
        statuses[reply.status] = statuses.get(reply.status, 0) + 1
        if reply.status == 202:
            ids.keep(mine)
        else:
            refused(reply, 503)
        c.close()
    # One group of the writer's may be under way besides.
    assert 64 <= statuses[202] < 200 and statuses[503] > 0, statuses
    return '%d acknowledged, %d told to come again; Expect, chunks and 5 MB refused before the body' % (
        statuses[202], statuses[503])


def full_buffers(d, ids):
    """Bodies that are half there fill [http] buffered_bytes: the next is refused before it is sent."""
    half = [Client(d, POST + b'Content-Length: 8000000\r\n\r\n') for _ in range(9)]
    for _ in range(79): # in turns: none is silent for long
        for c in half:
            c.send(b' ' * 100000)

    def full():
        for c in half:
            c.send(b' ')
        return early_refusal(d)
    kept = sum(not c.closed() for c in half)
    assert kept >= 6, kept # 64 MB; a buffer may be larger than what is in it
    until(full, 10, 'never full')
    until(lambda: not full(), 10, 'who drips a large body keeps all others out')
    left = sum(not c.closed() for c in half)
    assert 0 < left < kept, left
    for c in half:
        c.close()
    until(lambda: post(d, ids) == 202, 10, 'the bytes never come back')
    return '%d bodies of 7.9 MB buffered, then 503 before the body; %d stayed' % (kept, left)


def early_refusal(d):
    with socket.create_connection(('127.0.0.1', d.port), 10) as s:
        s.settimeout(0.3)
        s.sendall(POST + b'Expect: 100-continue\r\nContent-Length: 4000000\r\n\r\n')
        try:
            first = s.recv(4096)
        except socket.timeout:
            return False
    assert re.match(rb'HTTP/1.1 (503|100) ', first), first
    return first.startswith(b'HTTP/1.1 503 ')


def many_uploads(d, ids):
    """More uploads at a time than [http] uploads."""
    head = b'POST /v1/symbols HTTP/1.1\r\nHost: x\r\n' + TOKEN + b'Content-Length: 900000\r\n\r\nPK\x03\x04'
    clients = [Client(d, head + bytes(60000)) for _ in range(8)]
    time.sleep(0.3)
    refused(Client(d, head.replace(b'\r\n\r\n', b'\r\nExpect: 100-continue\r\n\r\n', 1)).read(), 503)
    for c in clients:
        c.close()
    until(lambda: d.request('POST', '/v1/symbols?wait=1', DEMO.read_bytes()).status == 200, 10, 'no place')
    return '8 at a time, the ninth 503 before the body'


def idle_ten_thousand(d, ids):
    """Ten thousand that connect and say nothing."""
    count, opened = 10000 if LONG or not SANITIZED else 2000, []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 200
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
        count = min(count, min(wanted, hard) - 200)
    for i in range(count):
        s = socket.socket()
        s.settimeout(20)
        if i % 5000 == 4999: # a new source address: more than its ports allow
            s.bind(('127.0.0.%d' % (2 + i // 5000), 0))
        s.connect(('127.0.0.1', d.port))
        opened.append(s)
        if i % 500 == 0:
            assert post(d, ids) == 202
    most = descriptors(d)
    assert most < CONNECTIONS + 100, most
    begun = time.monotonic()
    done = [post(d, ids) for _ in range(20)]
    assert done == [202] * 20, done
    took = (time.monotonic() - begun) * 1000 / 20
    for s in opened:
        s.close()
    return '%d connected, %d descriptors at most; a report in between: %.0f ms' % (count, most, took)


def trickle(d, clients, piece, seconds, what):
    """A byte now and then to each, until the daemon has ended them all. How long that took."""
    begun = time.monotonic()
    alive = list(clients)
    while alive:
        assert time.monotonic() - begun < seconds * (5 if SANITIZED else 1), (what, len(alive))
        alive = [c for c in alive if not c.closed() and c.send(piece)]
        time.sleep(0.2)
    for c in clients:
        c.close()
    return time.monotonic() - begun


def slow_heads(d, ids):
    clients = [Client(d, b'GET /healthz HTTP/1.1\r\nX-Slow: ') for _ in range(300)]
    took = trickle(d, clients, b'a', 5 * TIMEOUT, 'slow heads')
    assert took > TIMEOUT, took
    return '300 heads byte by byte: all cut off after %.1f s' % took


def slow_bodies(d, ids):
    clients = [Client(d, POST + b'Content-Length: 100000\r\n\r\n') for _ in range(300)]
    took = trickle(d, clients, b' ', 4 * TIMEOUT, 'slow bodies')
    assert took > TIMEOUT, took
    return '300 bodies byte by byte: all cut off after %.1f s' % took


def slow_refused_bodies(d, ids):
    head = POST.replace(b'test-admin', b'wrong') + b'Content-Length: 100000\r\n\r\n'
    clients = [Client(d, head) for _ in range(300)]
    took = trickle(d, clients, b' ', 4 * TIMEOUT, 'slow refused bodies')
    # The address was told 429 for wrong tokens; the right one still passes.
    assert post(d, ids) == 202
    return '300 without a token, byte by byte: all cut off after %.1f s' % took


def all_slots_slow(d, ids):
    """As many slow bodies as there are connections: who comes now is served all the same."""
    clients = [Client(d, POST + b'Content-Length: 100000\r\n\r\n ') for _ in range(CONNECTIONS + 200)]
    served = [post(d, ids) for _ in range(20)]
    assert served == [202] * 20, served
    ended = sum(c.closed() for c in clients)
    for c in clients:
        c.close()
    assert 200 <= ended < CONNECTIONS + 200, ended
    return '%d slow bodies, %d of them made room; 20 reports of 20 taken' % (len(clients), ended)


def slow_readers(d, ids):
    """Answers that nobody takes."""
    ask = b'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
    clients = [Client(d, ask * 100, buffer=4096) for _ in range(200)]
    until(lambda: connections(d) < 50, 6 * TIMEOUT, 'they stay')
    held, c = 0, clients[0] # what the kernel kept for one comes now
    try:
        while data := c.socket.recv(1 << 20):
            held += len(data)
    except OSError:
        pass
    assert held < MB, held
    for c in clients:
        c.close()
    return '200 that read nothing of 100 answers: cut off; %d kB were held for one' % (held >> 10)


def connections(d):
    text = d.request('GET', '/metrics').body.decode()
    return int(re.search(r'(?m)^stallsym_http_connections (\d+)', text)[1])


def pipelining(d, ids):
    """Requests in one packet: answers in order, each its own."""
    for count in (2, 10, 60):
        data, wanted = b'', []
        for i in range(count):
            mine = ids.take(1)
            body = batch(mine)
            mark = b'X-Request-Id: p%d\r\n' % i
            kind = i % 3
            if kind == 0:
                data += POST + mark + b'Content-Length: %d\r\n\r\n' % len(body) + body
                ids.keep(mine)
            elif kind == 1:
                data += b'GET /healthz HTTP/1.1\r\nHost: x\r\n' + mark + b'\r\n'
            else:
                data += b'GET /v1/stats HTTP/1.1\r\nHost: x\r\n' + TOKEN + mark + b'\r\n'
            wanted.append((202, 200, 200)[kind])
        c = Client(d, data)
        for i in range(count):
            reply = c.read()
            assert reply and reply.status == wanted[i] and reply.header('X-Request-Id') == 'p%d' % i, (i, reply)
        c.close()
    return '2, 10 and 60 in one packet: all answered, in order'


def half_closed(d, ids):
    """No more to say, but still listening."""
    for name, data, body, status in (
            ('get', HEALTH, None, 200), ('read', b'GET /v1/stats HTTP/1.1\r\nHost: x\r\n' + TOKEN + b'\r\n', None, 200),
            ('post', POST, b'', 202), ('large', POST, b' ' * 1000000, 202),
            ('upload', b'POST /v1/symbols?wait=1 HTTP/1.1\r\nHost: x\r\n' + TOKEN, DEMO.read_bytes(), 200)):
        for i in range(5):
            mine = ids.take(1)
            if body is not None:
                whole = body if name == 'upload' else batch(mine) + body
                data_now = data + b'Content-Length: %d\r\n\r\n' % len(whole) + whole
            else:
                data_now = data
            c = Client(d, data_now)
            c.socket.shutdown(socket.SHUT_WR)
            reply = c.read()
            assert reply and reply.status == status, (name, reply)
            if status == 202:
                ids.keep(mine)
            # The library may miss the end and see it at the time-out only.
            assert i > 0 or c.read(5 * TIMEOUT) is None
            c.close()
    c = Client(d, POST + b'Content-Length: 100\r\n\r\n{"half"') # in the middle: an end without an answer
    c.socket.shutdown(socket.SHUT_WR)
    begun = time.monotonic()
    while not c.closed():
        assert time.monotonic() - begun < 3 * TIMEOUT
        time.sleep(0.02)
    c.close()
    return 'reads, reports, 1 MB, an upload: answered, then closed; half a body: closed'


def in_pieces(d, head, body, step):
    c = Client(d, head)
    for i in range(0, len(body), step):
        c.send(body[i:i + step])
    reply = c.read()
    c.close()
    return reply


def chunks(d, ids):
    head = POST + b'Transfer-Encoding: chunked\r\n\r\n'
    mine = ids.take(1)
    body = batch(mine)
    cut = [body[:7], body[7:8], body[8:]]
    good = b''.join(b'%X\r\n%s\r\n' % (len(p), p) for p in cut) + b'0\r\nTrailer: x\r\n\r\n'
    for step in (len(good), 1, 3):
        reply = in_pieces(d, head, good, step)
        assert reply and reply.status == 202, reply
        ids.keep(mine)
    # Extensions mean nothing to us: libmicrohttpd 0.9 skips them, 1.0 refuses them.
    extended = b''.join(b'%X;name="v"\r\n%s\r\n' % (len(p), p) for p in cut) + b'0\r\n\r\n'
    for step in (len(extended), 1, 3):
        reply = in_pieces(d, head, extended, step)
        assert reply and reply.status in (202, 400), reply
    for bad in (b'ZZ\r\nabc\r\n0\r\n\r\n', b'-5\r\nabcde\r\n0\r\n\r\n', b'+5\r\nabcde\r\n0\r\n\r\n', b'\r\n\r\n0\r\n\r\n',
                b'0x5\r\nabcde\r\n0\r\n\r\n', b'5 5\r\nabcde\r\n0\r\n\r\n', b'3\r\nabcdef\r\n0\r\n\r\n',
                b'f' * 40 + b'\r\nabc', b'FFFFFFFFFFFFFFFF\r\nabc', b'7FFFFFFFFFFFFFFF\r\nabc', b'1' * 100000,
                b'5;' + b'x' * 200000 + b'\r\nabcde\r\n0\r\n\r\n'):
        c = Client(d, head + bad)
        # The giant sizes are believed until bytes are missing: then the time-out ends them.
        reply = c.read(5 * TIMEOUT)
        # A chunk's extension that fills its buffer is an error of the server to the library.
        assert reply is None or 400 <= reply.status < 500 or bad[:2] == b'5;', (bad[:30], reply)
        c.close()
    zero = Client(d, head) # a body of more chunks than bytes that mean something
    assert zero.send(b'1\r\n \r\n' * 200000 + b'0\r\n\r\n')
    refused(zero.read(), 400)
    zero.close()
    return 'good ones in any pieces, 12 bad or giant sizes refused or cut off, 200,000 chunks read'


def send_all(d, body, header=b''):
    """A client that is still sending when it is refused can read why."""
    c = Client(d, POST + header + b'Content-Length: %d\r\n\r\n' % len(body) + body)
    c.ended = False
    reply = c.read(60)
    c.close()
    assert reply, 'no answer'
    return reply


def small_and_huge(d, ids):
    """Many small batches and a few of 8 MB at once; gzip that inflates to 8 MB among them."""
    over, counts, lock = threading.Event(), {}, threading.Lock()

    def note(kind, status):
        with lock:
            counts[kind, status] = counts.get((kind, status), 0) + 1

    def small():
        while not over.is_set():
            status = post(d, ids, 5)
            note('small', status)
            if status != 202:
                time.sleep(0.1)

    def huge(packed):
        pad = b' ' * 7500000
        while not over.is_set():
            mine = ids.take(2000)
            body = batch(mine) + pad
            answer = send_all(d, gzip.compress(body, 1) if packed else body, b'Content-Encoding: gzip\r\n' * packed)
            note('huge', answer.status)
            if answer.status == 202:
                ids.keep(mine)
            elif answer.status == 503:
                refused(answer, 503)
                time.sleep(0.1)
            else:
                raise AssertionError(answer)

    def hostile():
        """Not ours to be stored: a bomb, and 8 MB that take long to read and are wrong."""
        bomb = gzip.compress(b'[' + b' ' * (8 * MB - 4096), 9)
        while not over.is_set():
            for body, header in ((bomb, b'Content-Encoding: gzip\r\n'), (b'[' + b'0,' * (4 * MB - 10) + b'0]', b''),
                                 (b'[' * (7 * MB), b''), (b'"' + b'x' * (7 * MB) + b'"', b'')):
                answer = refused(send_all(d, body, header), 400, 413, 422, 503)
                note('hostile', answer.status)
                if over.is_set():
                    return
    jobs = [(small, ())] * 6 + [(huge, (False,))] * 2 + [(huge, (True,))] * 2 + [(hostile, ())] * 2
    failed = []

    def guarded(job, args):
        try:
            job(*args)
        except Exception as e:
            failed.append(e)
            over.set()
    threads = [threading.Thread(target=guarded, args=j, daemon=True) for j in jobs]
    for t in threads:
        t.start()
    over.wait(30 if LONG else 6)
    over.set()
    for t in threads:
        t.join(60)
    assert not failed, failed
    assert counts.get(('small', 202)) and counts.get(('huge', 202)), counts
    return ', '.join('%s %d: %d' % (*k, counts[k]) for k in sorted(counts))


def resets(d, ids):
    """Reset at every place of a request, uploads among them."""
    r, demo = random.Random(1), DEMO.read_bytes()
    kinds = [(POST, b' ' * 300000), (b'POST /v1/symbols HTTP/1.1\r\nHost: x\r\n' + TOKEN, demo * 10)]
    count = 2000 if LONG else 400
    for i in range(count):
        head, pad = kinds[i % 2]
        body = (batch(['reset-%d' % i]) if i % 2 == 0 else b'') + pad
        data = head + b'Content-Length: %d\r\n\r\n' % len(body) + body
        c = Client(d, data[:r.randrange(1, len(data))])
        if r.random() < 0.7:
            c.reset()
        else:
            c.close()
    until(lambda: not list((d.folder / 'data/spool').iterdir()), 10, 'spool files left')
    return '%d resets and ends in the middle: no spool file left' % count


def smuggling(d, ids):
    """Read in one way or refused; the second request hidden in the body is never answered."""
    hidden = b'GET /v1/admin/tokens HTTP/1.1\r\nHost: x\r\n' + TOKEN + b'\r\n'
    for name, head in (
            ('length twice', b'Content-Length: 5\r\nContent-Length: 6\r\n'),
            ('length and chunks', b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'),
            ('blank before the colon', b'Content-Length : 5\r\n'),
            ('tab before the colon', b'Transfer-Encoding\t: chunked\r\n'),
            ('folded', b'Transfer-Encoding:\r\n chunked\r\n'), ('folded length', b'Content-Length: 1\r\n 0\r\n'),
            ('bare LF', b'X: y\nContent-Length: 5\nTransfer-Encoding: chunked\r\n'),
            ('bare CR', b'X: y\rTransfer-Encoding: chunked\r\n'),
            ('negative', b'Content-Length: -1\r\n'), ('overflow', b'Content-Length: 18446744073709551616\r\n'),
            ('overflow by one', b'Content-Length: 9223372036854775808\r\n'),
            ('list', b'Content-Length: 5, 5\r\n'), ('float', b'Content-Length: 5.0\r\n'),
            ('coding in capitals and more', b'Transfer-Encoding: Chunked, identity\r\n'),
            ('quoted coding', b'Transfer-Encoding: "chunked"\r\n'),
            ('NUL in a name', b'Content-Le\x00ngth: 5\r\n'), ('no name', b': 5\r\n'),
            ('leading blank', b' Content-Length: 5\r\n'), ('no colon', b'Content-Length\r\n')):
        c = Client(d, POST + head + b'\r\n0\r\n\r\n' + hidden)
        c.socket.shutdown(socket.SHUT_WR)
        got = b''
        c.socket.settimeout(3 * TIMEOUT)
        try:
            while True:
                piece = c.socket.recv(65536)
                if not piece:
                    break
                got += piece
        except OSError:
            pass
        c.close()
        assert b'"scopes"' not in got, (name, got[:300])
        statuses = re.findall(rb'HTTP/1\.[01] (\d\d\d) ', got)
        assert statuses and all(s[:1] == b'4' for s in statuses), (name, got[:300])
    return '19 heads that two servers could read differently: each refused'


def refusals_of_heads(d, ids):
    """What is wrong before a handler is found: ours in JSON, some the library says itself."""
    ours = library = 0
    for data, statuses in (
            (b'GET /healthz HTTP/1.1\r\nHost: x\r\nX: ' + b'a' * 40000 + b'\r\n\r\n', (431,)),
            (b'GET /' + b'a' * 20000 + b' HTTP/1.1\r\nHost: x\r\n\r\n', (404, 414)),
            (b'GET /healthz HTTP/1.1\r\nHost: x\r\nX: ' + b'a' * 200000 + b'\r\n\r\n', (431, 413)),
            (b'GET /' + b'a' * 200000 + b' HTTP/1.1\r\nHost: x\r\n\r\n', (414,)),
            (POST + b'Content-Length: x\r\n\r\n', (400,)), (b'GET /healthz HTTP/1.1\r\n\r\n', (400,)),
            (b'GET\r\n\r\n', (400,)), (b'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n', (400, 505))):
        c = Client(d, data)
        reply = c.read()
        assert reply is None or reply.status in statuses, (data[:40], reply)
        if reply and reply.header('Content-Type') == 'application/problem+json':
            ours += 1
        else:
            library += 1
        c.close()
    assert ours >= 2, ours
    return '%d refused by us in JSON, %d by libmicrohttpd' % (ours, library)


CASES = (full_queue, full_buffers, many_uploads, idle_ten_thousand, slow_heads, slow_bodies, slow_refused_bodies,
         all_slots_slow, slow_readers, pipelining, half_closed, chunks, small_and_huge, resets, smuggling,
         refusals_of_heads)


def judge(name, said, samples, d):
    times = sorted(ms for ms, _ in samples)
    lost = sum(not ok for _, ok in samples)
    median, p99, worst = times[len(times) // 2], times[len(times) * 99 // 100], times[-1]
    peak = memory(d, 'VmHWM')
    print('%-20s %-95s healthz %4d: %.1f / %.1f / %.1f ms, %d MB' % (
        name, said, len(times), median, p99, worst, peak // MB), flush=True)
    assert lost == 0, (name, '/healthz not answered', lost)
    # The goal is 100 ms; on a machine that others use, too, only its order can be asserted.
    if not SANITIZED:
        assert median <= 100 and worst <= 3000, (name, median, worst)
        assert peak <= CAP, (name, peak // MB, CAP // MB)


def main():
    ids = Ids()
    with Daemon(env=ENV) as d:
        assert post(d, ids) == 202
        d.get('/v1/stats')
        before = descriptors(d)
        pulse = Pulse(d.port)
        for case in CASES:
            if ONLY and case.__name__ not in ONLY:
                continue
            pulse.take()
            peak_from_now_on(d)
            begun = time.monotonic()
            said = case(d, ids)
            judge(case.__name__, '%s (%.1f s)' % (said, time.monotonic() - begun), pulse.take(), d)
            assert d.process.poll() is None, case
        pulse.end()
        until(lambda: connections(d) <= 1, 5 * TIMEOUT, 'connections stay')
        until(lambda: descriptors(d) <= before + 8, 10, (descriptors(d), before))
        check_kept(d, ids)
        log = d.log.read_text()
        assert 'level=error' not in log, log[-2000:]
        assert 'idle or slow clients were cut off' in log or ONLY, log[-2000:]
        assert d.stop() == 0


def check_kept(d, ids):
    """All acknowledged reports, each once. Others may be there whose answer nobody read."""
    kept = sorted(ids.kept)
    stored = d.settle(60)['reports']
    for i in range(0, len(kept), 5000): # sent again all are known
        answer = d.post_reports(batch(kept[i:i + 5000]), status=202).json
        assert answer['accepted'] == 0 and answer['duplicates'] == len(kept[i:i + 5000]), answer
    base = sqlite3.connect(d.folder / 'data/stallsym.db')
    rows, distinct = (base.execute('SELECT count(*) FROM ' + t).fetchone()[0] for t in (
        'reports', '(SELECT day, hash FROM report_ids UNION SELECT day, hash FROM new_ids)'))
    base.close()
    assert rows == distinct == stored >= len(kept), (rows, distinct, stored, len(kept))
    print('%d reports acknowledged, %d stored: none missing, none twice' % (len(kept), rows))


main()
