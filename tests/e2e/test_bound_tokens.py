#!/usr/bin/env python3
"""Tokens that are bound to one app: of another one they neither read nor change anything, by any
route that the OpenAPI document names."""
import json
import pathlib
import time
import urllib.parse

from daemon import Daemon

DEMO = pathlib.Path(__file__).parent.parent / 'demo' / 'Shop.dSYM.zip'
MINE, OTHER = 'com.example.mine', 'com.example.other'
SECRETS = ('OtherPage', 'OtherDevice', '9.8.7', OTHER, 'other-note')
JSON = {'Content-Type': 'application/json'}


OFFSETS = (0x4083, 0x4100, 0x4200)


def reports(app, page, device, version, uuid='0285884D-3DE9-3051-B23A-63B48BF99F35'):
    return {'app': {'bundle_id': app, 'version': version, 'build': '1'},
            'device': {'model': device, 'os_version': '17', 'arch': 'arm64'},
            'images': [{'uuid': uuid, 'name': 'Shop', 'load_address': '0x100000000'}],
            'reports': [{'id': '%s-%d' % (page, i), 'kind': 'stall', 'duration_ms': 1000 + i,
                         'page': page, 'stack': [{'uuid': uuid, 'offset': hex(OFFSETS[i % 3])}]}
                        for i in range(9)]}


def call(d, method, path, body=None, token=True):
    data = None if body is None else json.dumps(body).encode()
    return d.request(method, path, data, JSON if data else {}, token)


def fill(d, uuid, app, page, device, version):
    d.post_reports(reports(app, page, device, version, uuid), status=202)
    assert call(d, 'POST', '/v1/usage', {'app': {'bundle_id': app, 'version': version},
                                         'items': [{'foreground_ms': 3600000, 'page': page}]}
                ).status == 202
    assert call(d, 'PUT', '/v1/apps/%s/config' % app, {'defaults': {'stall_ms': 900},
                                                       'note': 'other-note'}).status == 200
    assert call(d, 'PUT', '/v1/apps/%s/quota' % app, {'reports_per_day': 5000}).status == 200
    build = urllib.parse.urlencode({'bundle_id': app, 'version': version})
    assert call(d, 'PUT', '/v1/symbols/protected?' + build).status == 204


def state_of(d, cluster):
    """All that a bound token must leave as it is, with times of looking left out."""
    paths = ('/v1/clusters?bundle_id=' + OTHER, '/v1/clusters/%d' % cluster,
             '/v1/apps/%s/config/revisions' % OTHER, '/v1/apps/%s/config/rules' % OTHER,
             '/v1/apps/%s/quota' % OTHER, '/v1/symbols/protected?bundle_id=' + OTHER,
             '/v1/clusters/rules?undone=1', '/v1/symbols', '/v1/alerts', '/v1/admin/tokens',
             '/v1/breakdown?by=day&bundle_id=' + OTHER)
    return {p: d.get(p) for p in paths}


def main():
    with Daemon() as d:
        sent = d.upload(DEMO.read_bytes(), 'wait=1&bundle_id=%s&version=9.8.7' % OTHER, 200).json
        uuid, upload = sent['slices'][0]['uuid'], sent['upload_id']
        fill(d, uuid, MINE, 'MyPage', 'MyDevice', '1.2.3')
        fill(d, uuid, OTHER, 'OtherPage', 'OtherDevice', '9.8.7')
        d.settle()
        opened = call(d, 'POST', '/v1/symbols/uploads',
                      {'size': 100, 'sha256': '0' * 64, 'bundle_id': OTHER}).json['upload_id']
        clusters = [c['id'] for c in d.get('/v1/clusters?bundle_id=' + OTHER)['items']]
        mine = [c['id'] for c in d.get('/v1/clusters?bundle_id=' + MINE)['items']]
        assert len(clusters) >= 2 and len(mine) >= 2, (clusters, mine)
        merged = call(d, 'POST', '/v1/clusters/merge', {'into': clusters[0], 'from': clusters[1:2]})
        assert merged.status == 202, merged
        rule = merged.json['rules'][0]
        token = call(d, 'POST', '/v1/admin/tokens', {
            'name': 'bound', 'scopes': ['ingest', 'symbols', 'read', 'admin'],
            'bundle_id': MINE}).json['token']
        assert d.request('GET', '/v1/clusters', token=token).json['items'], 'its own it sees'
        while d.get('/v1/admin/recluster')['open']:
            time.sleep(0.05)
        d.settle()
        before = state_of(d, clusters[0])

        ids = {'/v1/reports/{id}': 'OtherPage-1', '/v1/symbols/uploads/{id}': upload,
               '/v1/clusters/rules/{id}': rule, '/v1/admin/tokens/{id}': 1}
        bodies = {
            ('post', '/v1/reports'): reports(OTHER, 'Forged', 'D', '1'),
            ('post', '/v1/usage'): {'app': {'bundle_id': OTHER}, 'items': [{'launches': 1}]},
            ('post', '/v1/symbols/uploads'): {'size': 9, 'sha256': '1' * 64, 'bundle_id': OTHER},
            ('put', '/v1/symbols/uploads/{id}'): None,
            ('post', '/v1/clusters/merge'): {'into': clusters[0], 'from': mine[:1]},
            ('post', '/v1/clusters/{id}/split'): {'depth': 3},
            ('patch', '/v1/clusters/{id}'): {'state': 'ignored', 'note': 'x'},
            ('put', '/v1/apps/{bundle_id}/quota'): {'reports_per_day': 1},
            ('put', '/v1/apps/{bundle_id}/config'): {'defaults': {'enabled': False}},
            ('post', '/v1/apps/{bundle_id}/config/rollback'): {'revision': 1},
            ('put', '/v1/alerts'): {'targets': [], 'rules': []},
            ('post', '/v1/alerts/test'): {},
            ('post', '/v1/admin/tokens'): {'scopes': ['read']},
            ('post', '/v1/symbols/check'): {'uuids': [uuid]},
            ('put', '/v1/symbols/{uuid}/stand-in'): {'uuid': uuid},
            ('post', '/v1/symbolicate'): {'stacks': [['0x1000']]},
        }
        # What is the same for everybody; symbols are looked up by UUID, whoever sent them.
        common = {'/healthz', '/readyz', '/openapi.json', '/upload.sh', '/v1/symbols/check',
                  '/v1/symbolicate'}
        document = d.get('/openapi.json')

        def whole_of(parameter):
            name = parameter.get('$ref', '').rsplit('/', 1)[-1]
            return document['components']['parameters'][name] if name else parameter

        for path, methods in document['paths'].items():
            for method in methods:
                if method not in ('get', 'put', 'post', 'delete', 'patch') or path in common:
                    continue
                target = path.replace('{bundle_id}', OTHER).replace('{uuid}', uuid)
                target = target.replace('{revision}', '1').replace(
                    '{id}', str(ids.get(path, clusters[0])))
                body = bodies.get((method, path))
                queries = ['']
                names = {p['name'] for p in map(whole_of, methods[method].get('parameters', []))
                         if p['in'] == 'query'}
                if 'bundle_id' in names:
                    queries.append('bundle_id=' + OTHER)
                if 'cluster_id' in names:
                    queries.append('cluster_id=%d' % clusters[0])
                for query in queries:
                    extra = {'/v1/breakdown': 'by=page', '/v1/compare':
                             'version=1.2.3&compare_version=9.8.7',
                             '/v1/clusters/{id}/breakdown': 'by=page'}.get(path, '')
                    if path == '/v1/symbols/protected' and method != 'get':
                        extra = 'version=9.8.7'
                    whole = target + '?' + '&'.join(x for x in (query, extra) if x)
                    answer = call(d, method.upper(), whole.rstrip('?'), body, token)
                    where = '%s %s: %s' % (method, whole, answer)
                    if query or path in ids or '{' in path:
                        assert answer.status in (403, 404, 422), where
                    told = answer.body.decode('utf-8', 'replace')
                    if answer.status == 200:
                        asked = [s for s in SECRETS if s in whole]
                        for secret in SECRETS:
                            assert secret in asked or secret not in told, where
                    assert answer.status < 500, where
        for method, target in (('GET', opened), ('PUT', opened + '?offset=0')):
            answer = d.request(method, '/v1/symbols/uploads/' + target,
                               b'PK\x03\x04' if method == 'PUT' else None, {}, token)
            assert answer.status == 404, answer
        # A file that is known is sent once more; whose it was is not told.
        answer = d.request('POST', '/v1/symbols?wait=1', DEMO.read_bytes(), {}, token)
        assert answer.status == 200 and OTHER not in answer.body.decode(), answer
        assert answer.json['upload_id'] != upload and '9.8.7' not in answer.body.decode(), answer
        # The stacks of a UUID whose file came again are looked up again, a moment after the answer.
        deadline = time.monotonic() + 20
        while True:
            d.settle()
            after = state_of(d, clusters[0])
            differ = [p for p in before if p != '/v1/symbols' and after[p] != before[p]]
            if not differ or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        assert not differ, [(p, before[p], after[p]) for p in differ]
        assert {s['uuid'] for s in after['/v1/symbols']['items']} == {uuid}
    print('ok: bound tokens')


main()
