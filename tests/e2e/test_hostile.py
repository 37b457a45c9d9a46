#!/usr/bin/env python3
"""What a hostile or broken client can send, on every route: the answer is the right refusal, the
daemon lives on, its memory and descriptors come back, nothing is left in its folders.

Covers: server/http/*.c server/ingest/format_*.c server/jobs/spooler.c server/jobs/index_install.c"""
import base64, gzip, io, json, os, pathlib, random, re, socket, struct, threading, time, zipfile
import zlib
from daemon import Daemon
from traffic import APP, DEMO, GONE, IMAGES, SHOP, body, check_sums, clusters, has_stack, left_behind, report

SANITIZED = 'asan' in os.environ.get('BUILD', '') or 'tsan' in os.environ.get('BUILD', '')
JSON = {'Content-Type': 'application/json'}
GOOD = json.dumps({'bundle_id': APP, 'stack': '0x1', 'id': 'good'}).encode()
FLAT = '{"bundle_id":"a","stack":"0x1",%s}'


def resident(d, key='VmRSS'):
    text = pathlib.Path('/proc/%d/status' % d.process.pid).read_text()
    return int(re.search(key + r':\s+(\d+)', text).group(1)) // 1024


def descriptors(d):
    return len(os.listdir('/proc/%d/fd' % d.process.pid))


def refused(answer, *statuses):
    assert answer.status in statuses, (statuses, answer)
    assert answer.headers['X-Request-Id'], answer
    if answer.status >= 400 and answer.body:
        assert answer.headers['Content-Type'] == 'application/problem+json', answer
        assert answer.json['status'] == answer.status, answer
        for secret in ('/tmp', 'SELECT', 'sqlite', '.c:'):
            assert secret not in answer.json['detail'], answer


def report_bodies(d):
    many = ','.join(['{}'] * 2600000)
    cases = [
        (400, b''), (400, b'null'), (400, b'"x"'), (400, b'{"reports":['), (400, b'[' * 100000),
        (400, b'{"a":1,"a":2}'), (400, b'\xff\xfe{\x00}\x00'), (400, b'{"bundle_id":"\xff"}'),
        (400, b'{"bundle_id":"\\ud800","stack":"0x1"}'), (400, GOOD + b'\x00'), (400, GOOD + b'{'),
        (400, FLAT % '"duration_ms":1e400'), (400, FLAT % '"timestamp":99999999999999999999'),
        (422, b'[]'), (422, b'{}'), (422, b'[[]]'), (422, b'[null]'), (422, b'{"reports":[]}'),
        (422, b'{"reports":{}}'), (422, b'{"reports":[null,1,"x",[],{}]}'),
        (422, FLAT % '"id":5'), (422, FLAT % '"duration_ms":-1'), (422, FLAT % '"sample_rate":0'),
        (422, FLAT % ('"id":"%s"' % ('i' * 129))), (422, FLAT % '"device":[1]'),
        (422, b'{"bundle_id":"a\\u0000b","stack":"0x1"}'), (422, b'{"bundle_id":"","stack":"0x1"}'),
        (422, b'{"bundle_id":"a","stack":"0x1\\u0000 0x2"}'), (422, b'{"bundle_id":"a","stack":"0x"}'),
        (422, b'{"bundle_id":"a","stack":[{"offset":1}]}'), (422, b'{"bundle_id":"a","stack":[-1]}'),
        (422, FLAT % '"images":[{"uuid":"zz","load_address":1}]'),
        (422, FLAT % '"images":[{"uuid":"%s","slide":-1}]' % SHOP),
        (422, FLAT % '"images":[{"uuid":"%s","slide":1.5}]' % SHOP),
        (422, FLAT % '"images":[{"uuid":"%s"}]' % SHOP),
        (413, '{"reports":[%s]}' % many), (413, '[' + '[],' * 2600000 + '[]]'),
        (413, json.dumps({'reports': [{}] * 10001})),
    ]
    for status, text in cases:
        answer = d.post_reports(text if isinstance(text, bytes) else text.encode())
        refused(answer, status)
    told = d.post_reports((FLAT % '"images":[{"uuid":"","load_address":1}]').encode())
    assert told.status == 202 and told.json['dropped'][0]['path'] == 'images[0].uuid', told
    for fields in ('"images":[{"uuid":"%s","slide":18446744073709551615}]' % SHOP,
                   '"images":[{"uuid":"%s","slide":"0xffffffffffffffff","load_address":1}]' % SHOP,
                   '"images":[{"uuid":"%s","load_address":"0xffffffffffffffff",'
                   '"size":18446744073709551615},{"uuid":"%s","load_address":0}]' % (SHOP, SHOP),
                   '"timestamp":-9007199254740991', '"timestamp":"9999-12-31T23:59:59Z"',
                   '"sample_rate":1e-6,"duration_ms":86400000',
                   '"page":"%s"' % ('p' * 250), '"id":"a/b%2f?\'; DROP TABLE stacks; --"'):
        d.post_reports(FLAT % fields, status=202)
    found = d.request('GET', "/v1/reports/a%2Fb%252f%3F'%3B%20DROP%20TABLE%20stacks%3B%20--")
    assert found.status == 200 and found.json['id'].startswith('a/b%2f?'), found
    cut = d.post_reports(FLAT.replace('"0x1"', '"%s"' % ('0x1 ' * 600)) % '"id":"long"', status=202)
    assert cut.json['dropped'], cut
    lines = b'\n'.join([b'{"x'] * 9999 + [GOOD])
    answer = d.post_reports(lines, 'application/x-ndjson', status=202).json
    assert answer['accepted'] + answer['duplicates'] == 1 and len(answer['rejected']) == 9999
    refused(d.post_reports(b'{"x\n' * 100000, 'application/x-ndjson'), 413)


def encodings(d):
    packed = gzip.compress(GOOD)
    # "zstd" of GOOD in one raw block: magic, no checksum, one segment of one byte length.
    frame = (b'\x28\xb5\x2f\xfd\x20' + bytes([len(GOOD)]) +
             struct.pack('<I', len(GOOD) << 3 | 1)[:3] + GOOD)
    bomb = gzip.compress(bytes(256 << 20), 1)
    for coding, data, status in (
            ('gzip', packed, 202), ('x-gzip', packed, 202), ('identity', GOOD, 202),
            ('zstd', frame, 202), ('gzip', gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]), 202),
            ('gzip', packed[:-4], 400), ('gzip', packed[:1], 400), ('gzip', packed + b'x', 400),
            ('gzip', packed[:-8] + bytes(8), 400), ('gzip', GOOD, 400), ('zstd', packed, 400),
            ('zstd', frame[:-1], 400), ('gzip', gzip.compress(packed), 400), ('gzip', bomb, 413),
            ('gzip', gzip.compress(b'[' + b'[],' * 2600000 + b'[]]'), 413),
            ('gzip, gzip', packed, 415), ('br', GOOD, 415), ('deflate', zlib.compress(GOOD), 415)):
        answer = d.request('POST', '/v1/reports', data, {**JSON, 'Content-Encoding': coding})
        refused(answer, status)
    for media in (None, 'text/plain', 'application/json; charset=utf-16', 'a/' + 'b' * 8000):
        refused(d.request('POST', '/v1/reports', GOOD, {'Content-Type': media} if media else {}), 415)


def targets(d):
    for path, status in (
            ('/', 404), ('//', 404), ('/v1/', 404), ('/v1/reports/', 404), ('/v1/reports/..', 404),
            ('/v1/reports/%00', 400), ('/v1/reports/%ff', 400), ('/v1/reports/%', 400),
            ('/v1/reports/' + 'a' * 20000, 404), ('/v1/clusters/-1', 404), ('/v1/clusters/1e3', 404),
            ('/v1/clusters/99999999999999999999', 404), ('/v1/clusters?limit=0', 400),
            ('/v1/clusters?limit=-1', 400), ('/v1/clusters?limit=1000000000', 400),
            ('/v1/clusters?limit=1&limit=2', 400), ('/v1/clusters?foo=1', 400),
            ('/v1/clusters?sort=id;drop', 400), ('/v1/clusters?since=9223372036854775807', 400),
            ('/v1/clusters?min_duration_ms=-1', 400), ('/v1/clusters?kind=x', 400),
            ('/v1/clusters?' + '&'.join('a%d=1' % i for i in range(100)), 400),
            ('/v1/clusters?cursor=x', 400), ('/v1/clusters?cursor=' + 'A' * 5000, 400),
            ("/v1/clusters?bundle_id='%20OR%201=1--", 200), ('/v1/clusters?q=%25_%5C', 200),
            ('/v1/breakdown?by=version,version', 400), ('/v1/breakdown?by=a,b,c', 400),
            ('/v1/symbols/x', 400), ('/v1/symbols/uploads/x', 404), ('/v1/symbols/check', 405)):
        refused(d.request('GET', path), status)
    assert '/openapi.json' in d.request('GET', '/').json['detail']
    first = d.get('/v1/clusters?limit=1&sort=p90')['next_cursor']
    for path in ('/v1/clusters?sort=count&cursor=', '/v1/symbols/missing?cursor='):
        refused(d.request('GET', path + first), 400)
    alphabet = 'ABCXYZabcxyz019-_'
    for _ in range(60):
        forged = list(first)
        forged[random.randrange(len(forged))] = random.choice(alphabet)
        refused(d.request('GET', '/v1/clusters?sort=p90&cursor=' + ''.join(forged)), 200, 400)


def raw_requests(d):
    """Bytes that are hardly HTTP: an answer or an end, then the next client is served."""
    token = b'Authorization: Bearer test-admin-token\r\n'
    for data in (b'GET /healthz\r\n\r\n', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', random.randbytes(2000),
                 b'\x16\x03\x01\x02\x00\x01' + random.randbytes(400),
                 b'GET /v1/stats HTTP/1.1\r\nHost: x\r\nX: ' + b'a' * 100000 + b'\r\n\r\n',
                 b'POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n' + token + b'\r\nhello',
                 b'POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' + token +
                 b'Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc',
                 b'POST /v1/reports HTTP/1.1\r\nHost: x\r\n' + token +
                 b'Transfer-Encoding: gzip, chunked\r\n\r\n'):
        with socket.create_connection(('127.0.0.1', d.port)) as s:
            s.settimeout(0.5)
            try:
                s.sendall(data)
                first = s.recv(65536)
            except OSError:
                first = b''
            assert not first or re.match(rb'HTTP/1\.[01] [45]\d\d ', first), (data[:40], first)
        assert d.request('GET', '/healthz').status == 200


def scopes(d):
    """Every operation with every kind of token."""
    def make(**wanted):
        return d.request('POST', '/v1/admin/tokens', json.dumps(wanted), JSON)
    names = ('ingest', 'symbols', 'read', 'admin')
    tokens = {name: make(scopes=[name]).json['token'] for name in names}
    bound = {name: make(scopes=[name], bundle_id='another.app').json['token'] for name in names[:3]}
    refused(make(scopes=['read'], bundle_id=''), 422)
    for path, operations in d.get('/openapi.json')['paths'].items():
        path = re.sub(r'\{(\w+)\}', lambda m: GONE if m[1] == 'uuid' else '999999', path)
        for method, operation in operations.items():
            wanted = operation['x-scopes']
            data = b'{}' if method == 'post' else None
            answer = d.request(method.upper(), path, data, JSON, token=False)
            assert (answer.status == 401) == bool(wanted), (method, path, answer)
            for held, token in [*tokens.items(), *bound.items()]:
                answer = d.request(method.upper(), path, data, JSON, token=token)
                may = not wanted or held in wanted or held == 'admin'
                assert may or answer.status == 403, (method, path, held, answer)
                assert answer.status not in (401, 500, 503), (method, path, held, answer)
                if may and token in tokens.values():
                    assert answer.status != 403, (method, path, held, answer)
        for method in {'PUT', 'PATCH', 'BREW'} - {m.upper() for m in operations}:
            refused(d.request(method, path), 405)
    for c in d.get('/v1/clusters')['items']:
        for below in ('', '/reports', '/breakdown?by=day'):
            path = '/v1/clusters/%d%s' % (c['id'], below)
            refused(d.request('GET', path, token=bound['read']), 404)
    refused(d.request('GET', '/v1/stats?bundle_id=' + APP, token=bound['read']), 403)
    refused(d.request('GET', '/v1/reports/good', token=bound['read']), 404)
    refused(d.request('POST', '/v1/reports', GOOD, JSON, token=bound['ingest']), 422)
    revoke_at_once(d, make)


def revoke_at_once(d, make):
    """Tokens made and revoked by many at a time: what was revoked is dead from then on."""
    dead = []

    def work():
        for _ in range(5):
            made = make(scopes=['ingest']).json
            assert d.request('DELETE', '/v1/admin/tokens/%d' % made['id']).status == 204
            dead.append(made['token'])
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    # Few enough not to be taken for somebody who guesses.
    for token in random.sample(dead, 15):
        assert d.request('POST', '/v1/reports', GOOD, JSON, token=token).status == 401


def symbolicate(d):
    for stacks, status in (([['0x1'] * 512], 200), ([['0x1'] * 513], 422), (['0x1 ' * 600], 422),
                           ([['0x1']] * 1001, 422), ([['0x1'] * 500] * 500, 422), ([], 200)):
        answer = d.request('POST', '/v1/symbolicate', json.dumps({'stacks': stacks}), JSON)
        refused(answer, status)
    refused(d.request('POST', '/v1/symbolicate', b'[' + b'[],' * 2600000 + b'[]]', JSON), 413)
    refused(d.request('POST', '/v1/symbols/check', b'[' + b'[],' * 2600000 + b'[]]', JSON), 413)
    refused(d.request('POST', '/v1/symbols/check', json.dumps({'uuids': [SHOP] * 10001}), JSON), 422)


def zip_of(*items):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
        for name, data in items:
            z.writestr(name, data)
    return out.getvalue()


def uploads(d):
    demo = DEMO.read_bytes()
    with zipfile.ZipFile(io.BytesIO(demo)) as z:
        name = next(n for n in z.namelist() if '/DWARF/' in n and not n.endswith('/'))
        member = z.read(name)
    macho = b'\xcf\xfa\xed\xfe'
    for data, status in (
            (b'', 400), (random.randbytes(65536), 400), (bytes(20 << 20), 400), (demo[:10], 422),
            (demo[:-1], 422), (b'PK\x03\x04' + random.randbytes(9999), 422), (zip_of(), 422),
            (zip_of(('a.zip', demo)), 422), (macho + b'\xff' * 99999, 422), (member[:32], 422),
            (member[:len(member) // 2], 422), (b'\x7fELF' + random.randbytes(9999), 422),
            (zip_of((name, macho + bytes(64 << 20))), 422), (gzip.compress(member), 200),
            (zip_of(('../../../../../tmp/stallsym-evil', member)), 200)):
        refused(d.upload(data), status)
    assert not os.path.exists('/tmp/stallsym-evil')
    form = {'Content-Type': 'multipart/form-data; boundary=BB'}
    head = b'--BB\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n'
    for data, status in (
            (head + b'\r\n' + demo + b'\r\n--BB--\r\n', 200), (head + b'\r\n' + demo + b'\r\n', 400),
            (head + b'\r\n\r\n--BB--\r\n', 400), (b'--BB--\r\n', 400), (b'', 400),
            (head + b'X: ' + b'a' * 99999 + b'\r\n\r\nx\r\n--BB--\r\n', 413),
            ((head + b'\r\n' + demo + b'\r\n') * 65 + b'--BB--\r\n', 413),
            (b'\r\n--B' * 99999, 400), (random.randbytes(99999), 400)):
        refused(d.request('POST', '/v1/symbols?wait=1', data, form), status)

    head = (b'POST /v1/symbols HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-admin-token\r\n'
            b'Content-Length: 9999999\r\n\r\n')

    def broken_off(length):
        with socket.create_connection(('127.0.0.1', d.port)) as s:
            if length % 2: # a reset instead of an end
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            try:
                s.sendall((head + demo * 100)[:length])
            except OSError:
                pass
    threads = [threading.Thread(target=broken_off, args=(random.randrange(1, 400000),))
               for _ in range(30)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    deadline = time.monotonic() + 10
    while left_behind(d):
        assert time.monotonic() < deadline, left_behind(d)
        time.sleep(0.05)


def damaged_store(d):
    """Index files that are cut, garbled or gone under the daemon; the dSYM sent again mends them."""
    stack = {'images': IMAGES, 'stacks': [[hex(0x100004000 + 4 * i) for i in range(110)]]}

    def named():
        answer = d.request('POST', '/v1/symbolicate', json.dumps(stack), JSON)
        assert answer.status == 200, answer
        return sum(frame['status'] == 'resolved' for frame in answer.json['stacks'][0])
    d.upload(DEMO, status=200)
    whole = named()
    assert whole > 50, whole
    index, = (p for p in (d.folder / 'data/symbols').rglob('*.gsym') if p.is_symlink() or p.stem.count('.') == 0)
    good = index.read_bytes()
    for harm in (lambda: os.truncate(index, 0), lambda: os.truncate(index, len(good) // 2),
                 lambda: index.write_bytes(random.randbytes(len(good))),
                 lambda: index.write_bytes(good[:500] + b'\x55' * 9 + good[509:]), index.unlink):
        harm()
        assert named() <= whole
        d.upload(DEMO, status=200)
        assert named() == whole, (named(), whole)
        assert index.read_bytes() == good
    d.settle()


def many_names(d):
    """4,096 images in stacks of 512 frames: /v1/stats still answers."""
    images = [{'uuid': '%032x' % (i + 1), 'name': 'Image%d' % i, 'load_address': hex((i + 16) << 16),
               'size': 0x10000} for i in range(4096)]
    d.post_reports({'app': {'bundle_id': 'many'}, 'images': images,
                    'reports': [{'id': 'many%d' % k, 'stack': [
                        ((k * 37 + i) % 4096 + 16 << 16) + i for i in range(512)]}
                        for k in range(250)]}, status=202)
    refused(d.post_reports({'app': {'bundle_id': 'many'}, 'images': images + images[:1],
                            'reports': [{'stack': '0x1'}]}), 422)
    d.post_reports('\n'.join(json.dumps({'bundle_id': 'app%d' % i, 'stack': '0x1'})
                             for i in range(2000)), 'application/x-ndjson', status=202)
    d.settle(60)


def main():
    random.seed(int(os.environ.get('SEED', '20261129')))
    with Daemon() as d:
        reports = [report('hostile-%d' % i) for i in range(300)]
        d.post_reports(body(reports), status=202)
        d.settle()
        before, threads = descriptors(d), len(os.listdir('/proc/%d/task' % d.process.pid))
        for test in (report_bodies, encodings, targets, raw_requests, symbolicate, uploads,
                     damaged_store, many_names, scopes):
            begin = time.monotonic()
            test(d)
            assert d.process.poll() is None, test.__name__
            print('%s: %.1f s, %d MB' % (test.__name__, time.monotonic() - begin, resident(d)))
        if not SANITIZED:
            assert resident(d, 'VmHWM') < 600, resident(d, 'VmHWM')
            deadline = time.monotonic() + 15 # freed memory goes back within ten seconds
            while resident(d) > 150 and time.monotonic() < deadline:
                time.sleep(0.2)
            assert resident(d) < 200, resident(d)
        assert descriptors(d) <= before + 16, (descriptors(d), before)
        assert len(os.listdir('/proc/%d/task' % d.process.pid)) == threads
        assert 'level=error' not in d.log.read_text(), d.log.read_text()
        assert d.stop() == 0
        assert left_behind(d) == [], left_behind(d)
        d.start() # what was good before is there
        check = d.post_reports(body(reports), status=202).json
        assert check['accepted'] == 0 and check['duplicates'] == len(reports), check


main()
