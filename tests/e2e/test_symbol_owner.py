#!/usr/bin/env python3
"""Two apps whose tokens do not trust each other: what one sends for the other's UUID is kept, but never
used; system libraries and the other's symbol maps are not theirs to send."""
import io
import json
import pathlib
import zipfile

from daemon import Daemon

DEMO = pathlib.Path('tests/demo/Shop.dSYM.zip')


def evil():
    """The same dSYM with one function renamed."""
    out = io.BytesIO()
    with zipfile.ZipFile(DEMO) as z, zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as w:
        for name in z.namelist():
            w.writestr(name, z.read(name).replace(b'step_rows', b'evil_rows'))
    return out.getvalue()


def token(d, app):
    answer = d.request('POST', '/v1/admin/tokens', json.dumps(
        {'name': app, 'scopes': ['symbols'], 'bundle_id': app}).encode(),
        {'Content-Type': 'application/json'})
    return answer.json['token']


def send(d, data, who, query=''):
    return d.request('POST', '/v1/symbols?wait=1' + query, data,
                     {'Content-Type': 'application/octet-stream'}, who)


for first, second in (('token', 'unbound'), ('unbound', 'token')):
    with Daemon() as d:
        a, b = token(d, 'com.a'), token(d, 'com.b')
        assert send(d, DEMO.read_bytes(), a if first == 'token' else True,
                    '' if first == 'token' else '&bundle_id=com.a').status == 200
        uuid = d.get('/v1/symbols')['items'][0]['uuid']
        before = d.get('/v1/symbols/' + uuid)['objects']
        index = (d.folder / 'data/symbols').rglob(uuid + '.gsym')
        good = next(index).read_bytes()
        told = send(d, evil(), b)
        assert told.status == 200 and "another app's" in told.json['slices'][0]['reason'], told
        now = d.get('/v1/symbols/' + uuid)['objects']
        current = [s for s in now if s['current']]
        assert len(now) == 2 and [s['object_sha256'] for s in current] == \
            [s['object_sha256'] for s in before], now
        assert next((d.folder / 'data/symbols').rglob(uuid + '.gsym')).read_bytes() == good
        # system libraries and somebody else's map
        assert send(d, evil(), b, '&kind=system').status == 403
        opened = d.request('POST', '/v1/symbols/uploads', json.dumps(
            {'size': 10, 'sha256': '0' * 64, 'kind': 'system'}).encode(),
            {'Content-Type': 'application/json'}, b)
        assert opened.status == 403, opened
        maps = io.BytesIO()
        with zipfile.ZipFile(maps, 'w') as w:
            w.writestr(uuid + '.bcsymbolmap', 'BCSymbolMap Version: 2.0\n_evil\n')
        send(d, maps.getvalue(), b)
        assert not list((d.folder / 'data/maps').glob(uuid + '*')), 'a map of another app'
        # the installation's own tokens may, and so may the app itself
        if second == 'unbound':
            assert send(d, evil(), True, '&bundle_id=com.b').status == 200
        assert send(d, DEMO.read_bytes(), a).status == 200
        d.restart()
        assert len(d.get('/v1/symbols/' + uuid)['objects']) >= 2
print('ok: symbols of two apps')
