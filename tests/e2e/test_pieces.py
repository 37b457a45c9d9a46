"""Uploads in pieces through the real daemon: offsets, gaps, repeats, broken connections, kill -9, two
senders at once, wrong bytes, ids of other apps, caps, expiry.

Covers: server/http/api_pieces.c server/http/piece.c server/jobs/piece_locks.c"""
import hashlib, io, json, os, pathlib, random, signal, socket, sys, threading, time, zipfile

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon

DEMO = pathlib.Path(__file__).parent.parent / 'demo' / 'Shop.dSYM.zip'


def archive(extra):
    """The demo's dSYM beside bytes that do not shrink."""
    out = io.BytesIO(DEMO.read_bytes())
    with zipfile.ZipFile(out, 'a') as z:
        z.writestr('Shop.dSYM/Contents/Resources/junk.bin', random.Random(extra).randbytes(extra))
    return out.getvalue()


def open_upload(d, data, status=201, token=True, **more):
    body = {'size': len(data), 'sha256': hashlib.sha256(data).hexdigest(), **more}
    answer = d.request('POST', '/v1/symbols/uploads', json.dumps(body), {'Content-Type': 'application/json'}, token)
    assert answer.status == status, answer
    return answer.json


def put(d, id, offset, piece, status=200, wait='', token=True):
    answer = d.request('PUT', '/v1/symbols/uploads/%s?offset=%d%s' % (id, offset, wait), piece,
                       {'Content-Type': 'application/octet-stream'}, token)
    assert answer.status == status, (offset, len(piece), answer)
    return answer


def offset_of(d, id):
    answer = d.request('HEAD', '/v1/symbols/uploads/%s' % id)
    assert answer.status == 200 and not answer.body, answer
    return int(answer.headers['Upload-Offset'])


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'waited too long'
        time.sleep(0.02)


def pieces_in_order():
    data = archive(300000)
    with Daemon() as d:
        opened = open_upload(d, data, bundle_id='com.a', version='1.0')
        id = opened['upload_id']
        assert opened == {'upload_id': id, 'state': 'receiving', 'offset': 0, 'size': len(data)}, opened
        assert len(id) == 32 and int(id, 16) >= 0
        assert offset_of(d, id) == 0
        first = put(d, id, 0, data[:100000])
        assert first.headers['Upload-Offset'] == '100000' and first.json['offset'] == 100000
        # Once more, a part of it, over its end: all of it fits.
        assert put(d, id, 0, data[:100000]).json['offset'] == 100000
        assert put(d, id, 500, data[500:700]).json['offset'] == 100000
        assert put(d, id, 90000, data[90000:150000]).json['offset'] == 150000
        # A gap does not, and the answer says where to go on.
        gap = put(d, id, 200000, data[200000:], 409)
        assert gap.headers['Upload-Offset'] == '150000', gap.headers.items()
        assert put(d, id, 150000, b'x' * len(data), 413)
        assert put(d, id, 150000, b'').json['offset'] == 150000
        # Asked for again it is the same one.
        again = open_upload(d, data, 200, bundle_id='com.a', version='1.0')
        assert again['upload_id'] == id and again['offset'] == 150000, again
        assert open_upload(d, data, 201, bundle_id='com.b')['upload_id'] != id
        last = put(d, id, 150000, data[150000:], wait='&wait=1')
        assert last.json['reason'] == '1 file is no symbol file', last # the junk, not Info.plist
        assert last.json['state'] == 'indexed' and last.json['slices'][0]['name'] == 'Shop', last
        # The last piece once more: what it became.
        again = put(d, id, 150000, data[150000:])
        assert again.json['upload_id'] == last.json['upload_id'], again
        assert d.get('/v1/symbols/uploads/%s' % id)['state'] == 'indexed'
        assert d.get('/v1/symbols')['items'][0]['version'] == '1.0'
        known = open_upload(d, data, 200)
        assert known['state'] == 'indexed' and known['upload_id'] == last.json['upload_id']


def refusals():
    data = archive(1000)
    with Daemon(env={'STALLSYM_SYMBOLS_OPEN_UPLOADS': '2', 'STALLSYM_SYMBOLS_OPEN_UPLOAD_BYTES': '1M',
                     'STALLSYM_HTTP_UPLOAD_BYTES': '2M'}) as d:
        for body, status in (({}, 422), ({'size': 0, 'sha256': '0' * 64}, 422), ({'size': 1}, 422), ([], 422),
                             ({'size': 1, 'sha256': 'x' * 64}, 422), ({'size': 3 << 20, 'sha256': '0' * 64}, 413),
                             ({'size': 1, 'sha256': '0' * 64, 'bundel_id': 'x'}, 422),
                             ({'size': 1, 'sha256': '0' * 64, 'kind': 'x'}, 422),
                             ({'size': 1, 'sha256': '0' * 64, 'protect': True}, 422)):
            answer = d.request('POST', '/v1/symbols/uploads', json.dumps(body), {'Content-Type': 'application/json'})
            assert answer.status == status, (body, answer)
        assert d.request('POST', '/v1/symbols/uploads', 'x', {'Content-Type': 'application/json'}).status == 400
        assert d.request('POST', '/v1/symbols/uploads', '{}').status == 415
        for id in ('0' * 32, 'f' * 31, 'F' * 32, '7', 'x'):
            put(d, id, 0, b'abc', 404)
            put(d, id, 0, b'', 404)
            assert d.request('GET', '/v1/symbols/uploads/' + id).status == 404
        # Wrong bytes, and bytes that are nothing: said, and over.
        id = open_upload(d, data)['upload_id']
        wrong = put(d, id, 0, data[:-1] + bytes([data[-1] ^ 1]), 422)
        assert 'SHA-256' in wrong.json['detail'], wrong
        assert d.request('GET', '/v1/symbols/uploads/' + id).status == 404
        junk = b'junk' * 500
        id = open_upload(d, junk)['upload_id']
        assert put(d, id, -1, junk, 400) and put(d, id, 0, junk, 400)
        assert d.request('GET', '/v1/symbols/uploads/' + id).status == 404
        assert list((d.folder / 'data/spool').iterdir()) == []
        # Caps on their number and their bytes.
        open_upload(d, b'a' * 400000)
        open_upload(d, b'b' * 700000, 503)
        open_upload(d, b'c' * 400000)
        assert 'too many' in open_upload(d, b'd', 503)['detail']
        # An app's token sees its own.
        token = d.request('POST', '/v1/admin/tokens', json.dumps({'scopes': ['symbols'], 'bundle_id': 'com.a'}),
                          {'Content-Type': 'application/json'}).json['token']
    with Daemon() as d:
        tokens = [d.request('POST', '/v1/admin/tokens', json.dumps({'scopes': ['symbols'], 'bundle_id': app}),
                            {'Content-Type': 'application/json'}).json['token'] for app in ('com.a', 'com.b')]
        id = open_upload(d, data, token=tokens[0])['upload_id']
        assert open_upload(d, data, 200, token=tokens[0])['upload_id'] == id
        assert open_upload(d, data, token=tokens[1])['upload_id'] != id
        open_upload(d, data, 403, token=tokens[1], bundle_id='com.a')
        for body in (data, b''):
            put(d, id, 0, body, 404, token=tokens[1])
        assert d.request('GET', '/v1/symbols/uploads/' + id, token=tokens[1]).status == 404
        assert d.request('GET', '/v1/symbols/uploads/' + id, token=tokens[0]).status == 200
        put(d, id, 0, data, 202, token=tokens[0])


def one_app_does_not_block_others():
    def give_up(id, token):
        return d.request('DELETE', '/v1/symbols/uploads/' + id, token=token)

    with Daemon(env={'STALLSYM_SYMBOLS_OPEN_UPLOADS': '8'}) as d:
        tokens = [d.request('POST', '/v1/admin/tokens', json.dumps({'scopes': ['symbols'], 'bundle_id': app}),
                            {'Content-Type': 'application/json'}).json['token'] for app in ('com.a', 'com.b')]
        ids = [open_upload(d, b'a%d' % i, token=tokens[0])['upload_id'] for i in range(2)]
        assert 'of this app' in open_upload(d, b'a3', 503, token=tokens[0])['detail']
        open_upload(d, b'b', token=tokens[1])
        open_upload(d, b'c', bundle_id='com.a') # nobody's token: no cap of its own
        assert give_up(ids[0], tokens[1]).status == 404
        put(d, ids[0], 0, b'a', token=tokens[0])
        files = len(list((d.folder / 'data/spool').iterdir()))
        assert give_up(ids[0], tokens[0]).status == 204 and give_up(ids[0], tokens[0]).status == 404
        assert len(list((d.folder / 'data/spool').iterdir())) == files - 1
        put(d, ids[0], 0, b'a', 404, token=tokens[0])
        assert give_up(ids[1], True).status == 204
        # What became an upload is another matter.
        data = archive(1000)
        id = open_upload(d, data, token=tokens[0])['upload_id']
        whole = put(d, id, 0, data, token=tokens[0], wait='&wait=1').json['upload_id']
        assert give_up(id, tokens[0]).status == 409
        assert give_up(str(whole), tokens[0]).status == 403
        assert give_up(str(whole), True).status == 204


def half_a_piece(d, id, offset, piece, length):
    s = socket.create_connection(('127.0.0.1', d.port))
    s.sendall(b'PUT /v1/symbols/uploads/%s?offset=%d HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n'
              b'Content-Length: %d\r\n\r\n' % (id.encode(), offset, d.token.encode(), length) + piece)
    return s


def broken_connections_cost_little():
    data = archive(3 << 20)
    with Daemon() as d:
        id = open_upload(d, data)['upload_id']
        half_a_piece(d, id, 0, data[:1500000], len(data)).close()
        wait_for(lambda: offset_of(d, id) > 0)
        have = offset_of(d, id)
        assert have <= 1500000
        # While one sends, another is refused, and may come again. Which comes first is chance.
        for _ in range(100):
            have = offset_of(d, id)
            busy = half_a_piece(d, id, have, data[have:have + 100000], len(data) - have)
            refused = put_status(d, id, have, data[have:have + 10]) == 409
            busy.close()
            if refused:
                break
        assert refused
        wait_for(lambda: put_status(d, id, have, b'') == 200)
        have = offset_of(d, id)
        assert put(d, id, have, data[have:], wait='&wait=1').json['state'] == 'indexed'


def put_status(d, id, offset, piece):
    return d.request('PUT', '/v1/symbols/uploads/%s?offset=%d' % (id, offset), piece).status


def kill_at_any_point():
    data = archive(2 << 20)
    rounds = random.Random(7)
    with Daemon() as d:
        id = open_upload(d, data)['upload_id']
        acknowledged, kills = 0, 0
        while acknowledged < len(data):
            end = min(len(data), acknowledged + rounds.randrange(1, 300000))
            if rounds.random() < 0.4 and kills < 8:
                kills += 1
                s = half_a_piece(d, id, acknowledged, data[acknowledged:end][:rounds.randrange(1, 300000)],
                                 len(data) - acknowledged)
                time.sleep(rounds.uniform(0, 0.05))
                d.restart(signal.SIGKILL)
                s.close()
                have = offset_of(d, id)
                assert have >= acknowledged, (have, acknowledged)
                acknowledged = have
            elif acknowledged < end:
                answer = put(d, id, acknowledged, data[acknowledged:end], 200, '&wait=1')
                acknowledged = int(answer.headers['Upload-Offset'])
                assert acknowledged == end
        assert d.get('/v1/symbols/uploads/%s' % id)['state'] == 'indexed'
        assert d.get('/v1/symbols')['items'][0]['name'] == 'Shop'
        print('  %d kills' % kills)


def many_at_once():
    with Daemon() as d:
        results = {}

        def one(n):
            data = archive(50000 + n)
            id = open_upload(d, data)['upload_id']
            for at in range(0, len(data), 9973):
                results[n] = put(d, id, at, data[at:at + 9973], 200, '&wait=1').json['state']

        threads = [threading.Thread(target=one, args=(n,)) for n in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert results == {n: 'indexed' for n in range(12)}, results
        # Two clients with the same file: one of them comes first, both end well.
        data = archive(400000)
        ends = []

        def same():
            id = open_upload_any(d, data)
            while True:
                at = offset_of(d, id)
                answer = d.request('PUT', '/v1/symbols/uploads/%s?offset=%d&wait=1' % (id, at), data[at:at + 20000])
                assert answer.status in (200, 409), answer
                if answer.status == 200 and answer.json['state'] == 'indexed':
                    ends.append(answer.json['upload_id'])
                    return

        threads = [threading.Thread(target=same) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(ends) == 3 and len(set(ends)) == 1, ends


def open_upload_any(d, data):
    body = {'size': len(data), 'sha256': hashlib.sha256(data).hexdigest()}
    answer = d.request('POST', '/v1/symbols/uploads', json.dumps(body), {'Content-Type': 'application/json'})
    assert answer.status in (200, 201), answer
    return answer.json['upload_id']


TESTS = [pieces_in_order, refusals, one_app_does_not_block_others, broken_connections_cost_little,
         kill_at_any_point, many_at_once]
if __name__ == '__main__':
    for test in TESTS:
        begin = time.monotonic()
        test()
        print('%s: %.1f s' % (test.__name__, time.monotonic() - begin))
