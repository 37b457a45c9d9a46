#!/usr/bin/env python3
"""What a token bound to an app uploads is that app's own: other apps see nothing of it, by the API or
by reports of theirs, and cannot take its UUID; what an unbound token uploads serves all."""
import hashlib
import io
import json
import pathlib
import uuid
import zipfile

from daemon import Daemon

DEMO = pathlib.Path('tests/demo/Shop.dSYM.zip')
JSON = {'Content-Type': 'application/json'}
UUID = '4C4C4482-5555-3144-A198-B50014676C20'
OFFSET = 0x4080
A, B, C = 'com.a', 'com.b', 'com.c'
TEXT = '''Thread 0 Crashed:
0   Shop  0x0000000100004080 0x100000000 + 16512

Binary Images:
0x100000000 - 0x1000fffff Shop arm64 <%s> /Applications/Shop.app/Shop
''' % UUID.replace('-', '').lower()


def renamed(to, image=uuid.UUID(UUID)):
    """The same dSYM with one function renamed; of that UUID."""
    out = io.BytesIO()
    with zipfile.ZipFile(DEMO) as z, zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as w:
        for name in z.namelist():
            data = z.read(name).replace(b'step_rows', to)
            w.writestr(name, data.replace(uuid.UUID(UUID).bytes, image.bytes))
    return out.getvalue()


def tokens(d, app):
    answer = d.request('POST', '/v1/admin/tokens', json.dumps(
        {'name': app, 'scopes': ['symbols', 'read', 'ingest', 'admin'], 'bundle_id': app}).encode(), JSON)
    return answer.json['token']


def send(d, data, who=True, query='', status=200):
    answer = d.request('POST', '/v1/symbols?wait=1' + query, data,
                       {'Content-Type': 'application/octet-stream'}, who)
    assert answer.status == status, answer
    return answer.json


def report(d, app, who):
    sent = len(d.get('/v1/clusters?bundle_id=' + app)['items'])
    body = {'app': {'bundle_id': app, 'version': '1'},
            'device': {'model': 'x', 'os_version': '17', 'arch': 'arm64'},
            'images': [{'uuid': UUID, 'name': 'Shop', 'load_address': '0x100000000'}],
            'reports': [{'id': '%s-%d' % (app, sent), 'kind': 'stall', 'duration_ms': 900,
                         'stack': [{'uuid': UUID, 'offset': hex(OFFSET)}]}]}
    assert d.request('POST', '/v1/reports', json.dumps(body).encode(), JSON, who).status == 202
    d.settle()


def name_in_reports(d, app):
    """The name of the one frame of the app's one cluster, as its stack has it now."""
    d.settle()
    items = d.get('/v1/clusters?include_hidden=1&bundle_id=' + app)['items']
    assert len(items) == 1, items
    frames = d.get('/v1/clusters/%d' % items[0]['id'])['stacks'][0]['stack'][0]
    return [f['function'] for f in frames['frames']]


def name_asked(d, who, **more):
    body = {'images': [{'uuid': UUID, 'name': 'Shop', 'load_address': '0x100000000'}],
            'stacks': [[{'uuid': UUID, 'offset': hex(OFFSET)}]], **more}
    answer = d.request('POST', '/v1/symbolicate', json.dumps(body).encode(), JSON, who)
    assert answer.status == 200, answer
    return [f['function'] for f in answer.json['stacks'][0][0]['frames']]


def text_asked(d, who):
    answer = d.request('POST', '/v1/symbolicate', TEXT.encode(), {'Content-Type': 'text/plain'}, who)
    assert answer.status == 200, answer
    return answer.body.decode()


def check_answer(d, who):
    return d.request('POST', '/v1/symbols/check', json.dumps({'uuids': [UUID]}).encode(), JSON, who).json


def check(d, who):
    return check_answer(d, who)['present'] == [UUID]


def listed(d, who, path='/v1/symbols'):
    return [s['uuid'] for s in d.request('GET', path, None, {}, who).json['items']]


def sees_nothing(d, app, who):
    d.settle()
    assert name_asked(d, who) == [] and 'in Shop' not in text_asked(d, who)
    assert not check(d, who)
    assert listed(d, who) == []
    for path in ('/v1/symbols/' + UUID, '/v1/symbols/%s/file' % UUID):
        assert d.request('GET', path, None, {}, who).status == 404
    assert d.request('DELETE', '/v1/symbols/' + UUID, None, {}, who).status == 404
    assert listed(d, who, '/v1/symbols/missing') == [UUID]
    assert name_in_reports(d, app) == []


def open_pieces(d, data, who, status=201, **more):
    body = {'size': len(data), 'sha256': hashlib.sha256(data).hexdigest(), **more}
    answer = d.request('POST', '/v1/symbols/uploads', json.dumps(body).encode(), JSON, who)
    assert answer.status == status, answer
    return answer.json['upload_id']


def piece(d, id, data, who, status=200):
    answer = d.request('PUT', '/v1/symbols/uploads/%s?offset=0&wait=1' % id, data,
                       {'Content-Type': 'application/octet-stream'}, who)
    assert answer.status == status, answer


def pieces():
    """Whom an upload in pieces serves says who opened it, not who sent its last piece."""
    with Daemon() as d:
        a, b = tokens(d, A), tokens(d, B)
        own = renamed(b'a_secret_')
        id = open_pieces(d, own, a)
        shared = open_pieces(d, own, True, bundle_id=A)
        assert shared != id and open_pieces(d, own, a, 200) == id
        for token, other in ((b, id), (b, shared), (a, shared)):
            assert d.request('GET', '/v1/symbols/uploads/' + other, None, {}, token).status == 404
            assert d.request('DELETE', '/v1/symbols/uploads/' + other, None, {}, token).status == 404
            piece(d, other, own, token, 404)
        piece(d, id, own, True)
        assert check(d, a) and not check(d, b) and not check(d, True)
        assert check_answer(d, True)['own'] == [{'uuid': UUID, 'bundle_id': A}]
        assert 'own' not in check_answer(d, a) and 'own' not in check_answer(d, b)
        # not even who has the digest gets the file, or hears that it is there
        open_pieces(d, own, b)
        assert not check(d, b)
        piece(d, shared, own, True)
        assert check(d, b) and check(d, True)
        assert 'own' not in check_answer(d, True)


def stand_ins():
    """What stands in for an app is its own matter, too."""
    near = UUID.replace('4C4C4482', '11111111')
    path = '/v1/symbols/%s/stand-in' % UUID
    with Daemon() as d:
        a, b = tokens(d, A), tokens(d, B)
        report(d, A, a)
        report(d, B, b)
        other = [renamed(f, uuid.UUID(near)) for f in (b'a_secret_', b'b_evil_rs')]
        send(d, other[0], a, '&version=1')
        put = lambda who: d.request('PUT', path, json.dumps({'uuid': near}).encode(), JSON, who).status
        assert put(b) == 404 and put(a) == 204
        want = name_in_reports(d, A)
        assert want and name_in_reports(d, B) == []
        send(d, other[1], b, '&version=1')
        assert d.request('DELETE', path, None, {}, b).status == 404 and put(b) == 204
        evil = name_in_reports(d, B)
        assert evil and evil != want == name_in_reports(d, A)
        d.restart()
        for who in (a, b):
            shown = d.request('GET', '/v1/symbols/' + UUID, None, {}, who).json
            assert shown['objects'] == [] and shown['stand_in']['uuid'] == near, shown
        assert d.request('DELETE', path, None, {}, b).status == 204
        assert name_in_reports(d, B) == [] and name_in_reports(d, A) == want
        # the true file ends the owner's
        send(d, renamed(b'truth_row'), a)
        assert name_in_reports(d, A) not in ([], want)
        assert d.request('GET', '/v1/symbols/' + UUID, None, {}, a).json['stand_in'] is None
        assert d.request('DELETE', path, None, {}, True).status == 404


def main():
    with Daemon() as d:
        a, b = tokens(d, A), tokens(d, B)
        for app, who in ((A, a), (B, b), (C, True)):
            report(d, app, who)
        # the owner's own
        kept = lambda: {k: v for k, v in d.request('GET', '/v1/stats', None, {}, b).json.items()
                        if k.startswith(('object_', 'index_', 'symbol_', 'uploads_'))}
        before = kept()
        own = renamed(b'a_secret_')
        sent = send(d, own, a)
        assert sent['slices'][0]['uuid'] == UUID, sent
        want = name_in_reports(d, A)
        assert want and name_asked(d, a) == want and 'in Shop' in text_asked(d, a), want
        assert check(d, a) and listed(d, a) == [UUID] and listed(d, a, '/v1/symbols/missing') == []
        objects = d.request('GET', '/v1/symbols/' + UUID, None, {}, a).json['objects']
        assert [o['own'] for o in objects] == [True] and objects[0]['current'], objects
        assert kept() == before and d.get('/v1/stats')['object_files'] == 1, kept()
        # nobody else's, also not after another look
        sees_nothing(d, B, b)
        report(d, B, b)
        sees_nothing(d, B, b)
        assert name_in_reports(d, C) == []
        # unbound readers see all, or what the app that they name does
        assert name_asked(d, True) == want and name_asked(d, True, bundle_id=A) == want
        assert name_asked(d, True, bundle_id=B) == [] and not check(d, True)
        # no shelf is told, and what lies on one is not at the UUID
        files = [p.name for p in (d.folder / 'data/symbols').rglob('*.gsym') if p.is_symlink()]
        assert len(files) == 1 and UUID not in files[0], files
        shelf = files[0][:-len('.gsym')]
        assert shelf not in json.dumps(d.get('/v1/symbols')) + json.dumps(d.get('/v1/symbols/' + UUID))
        # the same UUID of another app harms nobody, whatever it has
        send(d, renamed(b'b_evil_rs'), b)
        assert name_in_reports(d, A) == want == name_asked(d, a)
        evil = name_in_reports(d, B)
        assert evil and evil != want and evil == name_asked(d, b) and name_in_reports(d, C) == []
        assert d.request('DELETE', '/v1/symbols/' + UUID, None, {}, b).status in (202, 204)
        d.settle()
        sees_nothing(d, B, b)
        assert name_in_reports(d, A) == want
        # the very file serves who has it, too
        send(d, own, b)
        assert name_in_reports(d, B) == want == name_asked(d, b) and name_in_reports(d, C) == []
        assert d.request('DELETE', '/v1/symbols/' + UUID, None, {}, b).status in (202, 204)
        sees_nothing(d, B, b)
        d.restart()
        sees_nothing(d, B, b)
        assert name_asked(d, a) == want
        # what an unbound token brings serves all, the owner keeps its own
        send(d, DEMO.read_bytes())
        shared = name_in_reports(d, C)
        assert shared and shared == name_in_reports(d, B) == name_asked(d, b) and shared != want
        assert name_in_reports(d, A) == want and check(d, True) and listed(d, b) == [UUID]
        assert len(d.get('/v1/symbols')['items']) == 2
        # the owner's goes: what serves all serves it
        assert d.request('DELETE', '/v1/symbols/' + UUID, None, {}, a).status in (202, 204)
        assert name_in_reports(d, A) == shared == name_asked(d, a)
        assert d.request('DELETE', '/v1/symbols/' + UUID, None, {}, a).status == 403
        # an upload that serves one app is not what an unbound token means
        send(d, own, a)
        assert name_in_reports(d, A) == want
        send(d, own, True, '&bundle_id=' + A)
        assert sorted(o['own'] for o in d.get('/v1/symbols/' + UUID)['objects']) == \
            [False, False, True]
        # a symbol map of an app is its own
        maps = io.BytesIO()
        with zipfile.ZipFile(maps, 'w') as w:
            w.writestr(UUID + '.bcsymbolmap', 'BCSymbolMap Version: 2.0\n_evil\n')
        send(d, maps.getvalue(), b)
        assert not list((d.folder / 'data/maps').glob(UUID + '*')), 'a map of another app'
        assert len(list((d.folder / 'data/maps').glob('own-*/' + UUID + '*'))) == 1
        # system libraries are everybody's: not a bound token's to send
        send(d, own, b, '&kind=system', 403)
        opened = d.request('POST', '/v1/symbols/uploads', json.dumps(
            {'size': 10, 'sha256': '0' * 64, 'kind': 'system'}).encode(), JSON, b)
        assert opened.status == 403, opened
    print('ok: own symbols')


main()
pieces()
stand_ins()
