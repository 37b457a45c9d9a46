"""Files of the data folder as a crash, a bad disk or somebody's hand leaves them."""
import os, pathlib, random, shutil, signal, sqlite3, subprocess, time
from load import JSON, Load, check_all, check_file, post_all, readiness, ready, wait_for
from daemon import PROGRAM, Daemon
from faults_process import stopped_child
from shim import FaultyDaemon
from traffic import APP, DEMO, SHOP, body, check_sums, clusters, report


def indexes(d):
    return [p for p in (d.folder / 'data/symbols').rglob('*.gsym') if not p.is_symlink()]


def new_stacks(d, name):
    sent = [report('%s-%d' % (name, i)) for i in range(300)]
    accepted, duplicates = post_all(d, sent)
    assert (accepted, duplicates) == (300, 0)
    return {r['id']: r for r in sent}


class Sent:
    """In the place of a Load: reports that were all answered."""

    def __init__(self, sent):
        self.sent, self.answered = sent, set(sent)
        self.uploads, self.refused, self.curated = [], {}, {}


def names_of(d):
    return sorted((c['title'], c['function'] or '', c['count']) for c in d.all_items('/v1/clusters'))


CRASH = DEMO.with_name('Shop.crash').read_bytes()


HEALED = 'msg="index chosen anew"'


def symbolicated(d):
    answer = d.request('POST', '/v1/symbolicate', CRASH, {'Content-Type': 'text/plain'})
    assert answer.status in (200, 503), answer
    return answer.body


def damaged_index(ways, restart):
    """Clusters and answers are those of a daemon whose index nobody touched."""
    with Daemon() as d:
        d.upload(DEMO, status=200)
        sent = new_stacks(d, 'index')
        d.settle()
        wanted, right = names_of(d), symbolicated(d)
        assert any(c[1] for c in wanted)
    with Daemon() as d:
        d.upload(DEMO, status=200)
        reports = list(sent.values())
        share = len(reports) // (len(ways) + 1) + 1
        post_all(d, reports[:share])
        d.settle() # the index is mapped from now on
        assert symbolicated(d) == right
        for number, way in enumerate(ways):
            healed = d.log.read_text().count(HEALED)
            if restart:
                d.stop()
            for path in indexes(d):
                way(path)
            if restart:
                d.start()
            symbolicated(d)
            post_all(d, reports[share * (number + 1):share * (number + 2)])
            wait_for(lambda: d.log.read_text().count(HEALED) > healed, 60,
                     'the index is not made anew, or the log does not say so')
            wait_for(lambda: symbolicated(d) == right, 60, 'other answers than before')
            wait_for(lambda: ready(d), 60, 'not ready again')
        d.settle()
        wait_for(lambda: names_of(d) == wanted, 60, 'clusters stay without names')
        return check_all(d, [Sent(sent)]) + '; %d ways' % len(ways)


def flip(path):
    data = bytearray(path.read_bytes())
    for _ in range(64):
        data[random.randrange(len(data))] ^= 0xff
    path.write_bytes(data)


def flip_one(path):
    """One byte of a name, in place: nothing that a lookup could stumble over."""
    at = path.read_bytes().rindex(b'main')
    with open(path, 'r+b') as file:
        file.seek(at)
        file.write(b'M')


def zeros(path):
    path.write_bytes(bytes(path.stat().st_size))


def other(path):
    path.write_text('no index\n' * 20)


def index_damaged(quick):
    """Bytes changed, nothing but zeros, another file, no file, while the daemon is down: made anew from
    the kept object."""
    ways = [flip, flip_one, zeros, other, lambda p: p.unlink()]
    return damaged_index(ways[1:2] if quick else ways, True)


def index_damaged_live(quick):
    """The same under lookups that have it mapped."""
    ways = [flip_one, flip, zeros, other, lambda p: p.unlink()]
    return damaged_index(ways[:1] if quick else ways, False)


def index_cut(quick):
    """To nothing, to less than a page (which reads as zeros up to its end), by half."""
    ways = [lambda p: os.truncate(p, 0), lambda p: os.truncate(p, 300),
            lambda p: os.truncate(p, p.stat().st_size // 2)]
    return damaged_index(ways[1:2] if quick else ways, False)


def index_lost(quick):
    """The index and the object it could be made from: said, its UUID is missing again; sent again all is
    as before."""
    with Daemon() as d:
        assert d.upload(DEMO).status == 200
        sent = new_stacks(d, 'lost')
        d.settle()
        wanted, right = names_of(d), symbolicated(d)
        d.stop()
        for name in ('symbols', 'objects'):
            for path in (d.folder / 'data' / name).rglob('*'):
                if path.is_symlink() or path.is_file():
                    path.unlink()
        d.start()
        wait_for(lambda: 'lost=1' in d.log.read_text(), 60, 'nothing in the log')
        sent.update(new_stacks(d, 'later'))
        d.settle()
        wait_for(lambda: SHOP in [m['uuid'] for m in d.get('/v1/symbols/missing')['items']], 30,
                 'its UUID is not missing')
        answer = d.upload(DEMO)
        assert answer.status == 200 and answer.json['state'] == 'indexed', answer
        d.settle()
        assert symbolicated(d) == right
        titles = {c[0] for c in names_of(d)}
        assert {c[0] for c in wanted} <= titles, {c[0] for c in wanted} - titles
        return check_all(d, [Sent(sent)])


# --- the database


def refused_start(d, words):
    env = {**os.environ, 'STALLSYM_STORAGE_DIR': str(d.folder / 'data'), 'STALLSYM_HTTP_PORT': '0'}
    done = subprocess.run([PROGRAM, 'run'], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and any(w in done.stderr for w in words), done
    return done.stderr.strip().split('\n')[-1]


def database_bad(quick):
    """Foreign, damaged, cut, newer: said at the start and left as it was. Missing or empty: a new one."""
    said = []
    with Daemon() as d:
        path = d.folder / 'data/stallsym.db'
        sent = new_stacks(d, 'bad')
        d.settle()
        d.stop()
        good = path.read_bytes()

        def put(data):
            for end in ('-wal', '-shm'):
                path.with_name(path.name + end).unlink(missing_ok=True)
            path.write_bytes(data)

        foreign = d.folder / 'foreign.db'
        base = sqlite3.connect(foreign)
        base.execute('CREATE TABLE t (x)')
        base.execute('PRAGMA application_id = 77')
        base.commit()
        base.close()
        base = sqlite3.connect(path)
        base.execute('PRAGMA user_version = 9999')
        base.commit()
        base.close()
        newer = path.read_bytes()
        cases = [('foreign', foreign.read_bytes(), ('not one of this program',)),
                 ('text', b'not a database\n' * 1000, ('no SQLite database', 'not a database')),
                 ('noise', random.randbytes(len(good)), ('no SQLite database', 'not a database')),
                 ('newer', newer, ('newer',)),
                 ('cut', good[:len(good) // 2 // 4096 * 4096], ('damaged', 'malformed')),
                 ('cut to a page', good[:4096], ('damaged', 'malformed'))]
        for name, data, words in cases:
            put(data)
            line = refused_start(d, words)
            said.append('%s: %s' % (name, line.split('run: ')[-1][-70:]))
            assert path.read_bytes() == data, '%s: the file was changed' % name
        for name in ('empty', 'missing'):
            put(b'') if name == 'empty' else path.unlink()
            d.start()
            assert d.get('/v1/stats')['reports'] == 0
            assert d.stop() == 0
        put(good)
        d.start()
        check_all(d, [Sent(sent)])
    return said[0] + '; ' + said[4]


def database_pages(quick):
    """Pages in the middle are noise: the start or the answers and the log tell it, nothing dies."""
    with Daemon() as d:
        path = d.folder / 'data/stallsym.db'
        new_stacks(d, 'pages')
        d.settle()
        d.stop()
        good = path.read_bytes()
        told = latched = 0
        for number in range(3 if quick else 12):
            before = len(d.log.read_text())
            data = bytearray(good)
            for _ in range(4):
                at = random.randrange(1, len(good) // 4096) * 4096
                data[at:at + 4096] = random.randbytes(4096)
            path.write_bytes(data)
            try:
                d.start()
            except RuntimeError as e:
                told += 1
                assert 'damaged' in str(e) or 'malformed' in str(e) or 'decoded' in str(e), e
                continue
            for i in range(3):
                answer = d.post_reports(body([report('page-%d-%d' % (number, i))]))
                assert answer.status in (202, 500, 503), answer
                told += answer.status != 202
                for read in ('/v1/stats', '/v1/clusters', '/v1/breakdown?by=day&bundle_id=' + APP):
                    answer = d.request('GET', read)
                    assert answer.status in (200, 500, 503), answer
                    if answer.status != 200:
                        told += 1
                        assert 'damaged' in d.log.read_text() or 'malformed' in d.log.read_text()
            assert d.process.poll() is None, 'it died'
            if 'database file is damaged' in d.log.read_text()[before:]:
                wait_for(lambda: b'the database is damaged' in readiness(d).body or
                         readiness(d).status == 503, 60, '/readyz says nothing of it')
                wait_for(lambda: 'msg="database is damaged"' in d.log.read_text()[before:], 30,
                         'the log says nothing of it')
                latched += 1
            d.stop()
        path.write_bytes(good)
        for end in ('-wal', '-shm'):
            path.with_name(path.name + end).unlink(missing_ok=True)
        d.start()
        assert d.get('/v1/stats')['reports'] == 300 and told > 0
        assert d.stop() == 0
        check_file(d)
        assert latched > 0 or quick
        return '%d times told, %d times in /readyz' % (told, latched)


def wal_left(quick):
    """A copy of the folder in the midst of it is a folder of a crash: what was answered is in it."""
    with Daemon() as d:
        load = Load(d, 'wal')
        wait_for(lambda: len(load.answered) > 300)
        d.stop(signal.SIGKILL)
        load.end()
        wal = d.folder / 'data/stallsym.db-wal'
        assert wal.stat().st_size > 0
        with open(wal, 'ab') as file: # and a commit that was cut
            file.write(random.randbytes(5000))
        shm = wal.with_name('stallsym.db-shm')
        if shm.exists():
            shm.write_bytes(random.randbytes(shm.stat().st_size))
        d.start()
        return check_all(d, [load])


def wal_deleted(quick):
    """Commits are gone with it, by somebody's hand: it starts, whole, with what the file has."""
    with Daemon() as d:
        first = new_stacks(d, 'first')
        d.settle()
        assert d.stop() == 0
        d.start()
        second = new_stacks(d, 'second')
        d.stop(signal.SIGKILL)
        (d.folder / 'data/stallsym.db-wal').unlink()
        d.start()
        stored = d.get('/v1/stats')['reports']
        assert 300 <= stored <= 600, stored
        accepted, duplicates = post_all(d, list(second.values()))
        assert accepted + duplicates == 300
        return '%d of 300 were in the log; %s' % (600 - stored, check_all(d, [Sent({**first, **second})]))


# --- the spool


def spool_half_written(quick):
    """Uploads cut by a kill, files of nobody, a queued file that was cut, pieces shorter than told."""
    import hashlib, json, socket
    with Daemon() as d:
        data = DEMO.read_bytes()
        half = socket.create_connection(('127.0.0.1', d.port))
        half.sendall(b'POST /v1/symbols HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-admin-token\r\n'
                     b'Content-Length: 3000000\r\n\r\n' + data + bytes(1000000))
        spool = d.folder / 'data/spool'
        wait_for(lambda: list(spool.iterdir()), what='no spool file')
        d.stop(signal.SIGKILL)
        half.close()
        (spool / 'notes.txt').write_text('not ours')
        d.start()
        assert [p.name for p in spool.iterdir()] == ['notes.txt']
        (spool / 'notes.txt').unlink()

        opened = d.request('POST', '/v1/symbols/uploads', json.dumps(
            {'size': len(data), 'sha256': hashlib.sha256(data).hexdigest()}), JSON).json
        url = '/v1/symbols/uploads/%s' % opened['upload_id']
        octets = {'Content-Type': 'application/octet-stream'}
        answer = d.request('PUT', url + '?offset=0', data[:1000], octets)
        assert answer.status == 200, (len(data), answer)
        d.stop(signal.SIGKILL)
        file, = spool.iterdir()
        with open(file, 'ab') as longer: # a piece that was never answered for
            longer.write(b'x' * 777)
        d.start()
        assert int(d.request('HEAD', url).headers['Upload-Offset']) == 1000
        assert d.request('PUT', url + '?offset=1000', data[1000:2000], octets).status == 200
        d.stop(signal.SIGKILL)
        os.truncate(file, 400) # as if the disk lost it
        d.start()
        answer = d.request('PUT', url + '?offset=2000', data[2000:], octets)
        assert answer.status == 404 and b'open it again' in answer.body, answer
        assert d.request('HEAD', url).status == 404 and list(spool.iterdir()) == []

        answer = d.upload(data)
        assert answer.status == 200, answer
        failed = False
        for number in range(8):
            id = d.request('POST', '/v1/symbols', data + b'cut %d' % number).json['upload_id']
            try:
                pid = stopped_child(d, 3)
            except AssertionError:
                continue
            d.stop(signal.SIGKILL)
            try: # stopped before it was bound to its parent
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
            for p in spool.iterdir():
                os.truncate(p, 400)
            d.start()
            wait_for(lambda: d.get('/v1/symbols/uploads/%s' % id)['state'] in ('indexed', 'failed'))
            state = d.get('/v1/symbols/uploads/%s' % id)
            failed = state['state'] == 'failed'
            if failed:
                break
        assert failed and state['reason'], state
        assert 'upload failed' in d.log.read_text()
        sent = new_stacks(d, 'spool')
        return check_all(d, [Sent(sent)]) + '; "%s"' % state['reason'][:60]
