#!/usr/bin/env python3
"""Bodies that say how things shall be: whole numbers are whole, lists are not empty by accident,
texts have no NUL, and a refusal names the place and changes nothing."""
import json

from daemon import Daemon

APP = '/v1/apps/com.example.shop'
HOOK = {'name': 'a', 'url': 'https://hooks.example.com/x'}
SHA = '0' * 64
WRONG = ['1.5', '"1"', '-1', '1e30', 'true', '[1]', '{}', '18446744073709551615']

# (method, path, body with a HOLE, place): whole numbers, each of them
NUMBERS = [('PUT', APP + '/config', '{"defaults": {"%s": HOLE}}' % s, 'defaults.' + s)
           for s in ('stall_ms', 'slight_ms', 'hang_ms', 'warmup_ms', 'cooldown_ms',
                     'sample_interval_ms', 'samples_max', 'batch_size', 'upload_interval_s',
                     'refresh_s')] + [
    ('PUT', APP + '/config', '{"rules": [{"set": {"batch_size": HOLE}}]}', 'rules[0].set.batch_size'),
    ('PUT', APP + '/config', '{"based_on": HOLE}', 'based_on'),
    ('POST', APP + '/config/rollback', '{"revision": HOLE}', 'revision'),
    ('POST', APP + '/config/rollback', '{"revision": 1, "based_on": HOLE}', 'based_on'),
    ('PUT', APP + '/quota', '{"reports_per_minute": HOLE}', 'reports_per_minute'),
    ('PUT', APP + '/quota', '{"reports_per_day": HOLE}', 'reports_per_day'),
    ('PUT', '/v1/alerts', '{"targets": [], "rules": [], "revision": HOLE}', 'revision'),
    ('PUT', '/v1/alerts', '{"targets": [], "rules": [{"mute": true, "min_reports": HOLE}]}',
     'rules[0].min_reports'),
    ('POST', '/v1/clusters/merge', '{"into": HOLE, "from": [2]}', 'into'),
    ('POST', '/v1/clusters/merge', '{"into": 2, "from": [HOLE]}', 'from[0]'),
    ('POST', '/v1/clusters/1/split', '{"depth": HOLE}', 'depth'),
    ('POST', '/v1/symbols/uploads', '{"size": HOLE, "sha256": "%s"}' % SHA, 'size'),
]
# texts and lists
OTHERS = [
    ('PUT', APP + '/config', {'rules': [{'if': {'device': []}}]}, 'rules[0].if.device'),
    ('PUT', APP + '/config', {'rules': [{}, {'if': {'device_class': []}}]}, 'rules[1].if.device_class'),
    ('PUT', APP + '/config', {'rules': [{'if': {'device': ''}}]}, 'rules[0].if.device'),
    ('PUT', APP + '/config', {'rules': [{'if': {'device': ['']}}]}, 'rules[0].if.device'),
    ('PUT', APP + '/config', {'rules': [{'if': {'version': ''}}]}, 'rules[0].if.version'),
    ('PUT', APP + '/config', {'rules': [{'if': []}]}, 'rules[0].if'),
    ('PUT', APP + '/config', {'rules': [{'set': []}]}, 'rules[0].set'),
    ('PUT', APP + '/config', {'rules': {}}, 'rules'),
    ('PUT', APP + '/config', {'defaults': []}, 'defaults'),
    ('PUT', APP + '/config', {'note': 'a\0b'}, 'note'),
    ('PUT', APP + '/config', {'rules': [{'name': 'a\0b'}]}, 'rules[0].name'),
    ('PUT', APP + '/config', {'rules': [{'if': {'percentage': '10'}}]}, 'rules[0].if.percentage'),
    ('PUT', '/v1/alerts', {'targets': [HOOK], 'rules': [{'to': []}]}, 'rules[0].to'),
    ('PUT', '/v1/alerts', {'targets': [HOOK], 'rules': [{'to': ['a'], 'alerts': []}]}, 'rules[0].alerts'),
    ('PUT', '/v1/alerts', {'targets': [HOOK], 'rules': [{'to': ['a\0']}]}, 'rules[0].to[0]'),
    ('PUT', '/v1/alerts', {'targets': [{**HOOK, 'name': 'a\0b'}], 'rules': []}, 'targets[0].name'),
    ('PUT', '/v1/alerts', {'targets': [HOOK], 'rules': [{'to': ['a'], 'owner': 'x\0'}]}, 'rules[0].owner'),
    ('PUT', '/v1/alerts', {'targets': [HOOK], 'rules': [], 'owners': {'x': []}}, 'owners.x'),
    ('PUT', '/v1/alerts', {'targets': [HOOK], 'rules': [], 'owners': {'x\n': ['a']}}, 'owners.x\n'),
    ('PUT', '/v1/alerts', {'targets': [HOOK]}, 'rules'),
    ('POST', '/v1/alerts/test', {'target': 'a\0'}, 'target'),
    ('POST', '/v1/admin/tokens', {'scopes': []}, 'scopes'),
    ('POST', '/v1/admin/tokens', {'scopes': ['read'], 'name': 'a\0b'}, 'name'),
    ('POST', '/v1/admin/tokens', {'scopes': ['read'], 'bundle_id': ''}, 'bundle_id'),
    ('POST', '/v1/admin/tokens', {'scopes': 'read'}, 'scopes'),
    ('POST', '/v1/clusters/merge', {'into': 1, 'from': []}, 'from'),
    ('POST', '/v1/clusters/merge', {'into': 1}, 'from'),
    ('POST', '/v1/clusters/merge', {'from': [1]}, 'into'),
    ('PATCH', '/v1/clusters/1', {'note': 'a\0b'}, 'note'),
    ('PATCH', '/v1/clusters/1', {'state': 'gone'}, 'state'),
    ('POST', '/v1/symbols/uploads', {'size': 1, 'sha256': SHA, 'version': 'a\0'}, 'version'),
    ('POST', '/v1/symbols/uploads', {'size': 1}, 'sha256'),
    ('POST', '/v1/symbols/uploads', {'sha256': SHA}, 'size'),
    ('PUT', APP + '/quota', {'slight_sample_rate': 0}, 'slight_sample_rate'),
    ('PUT', APP + '/quota', {'slight_sample_rate': '1'}, 'slight_sample_rate'),
    ('POST', '/v1/symbolicate', {'images': []}, 'stacks'),
    ('POST', '/v1/symbolicate', {'images': {}, 'stacks': []}, 'images'),
]
BODIES = {(method, path) for method, path, _, _ in NUMBERS + OTHERS} | {
    ('PUT', '/v1/symbols/0285884D-3DE9-3051-B23A-63B48BF99F35/stand-in')}


def refused(answer, place, what):
    assert answer.status == 422, (what, answer)
    assert answer.headers['Content-Type'] == 'application/problem+json', (what, answer)
    problem = answer.json
    assert problem['errors'][0]['path'] == place, (what, problem)
    assert problem['errors'][0]['reason'] and problem['status'] == 422, (what, problem)


with Daemon() as d:
    def send(method, path, body):
        return d.request(method, path, body.encode() if isinstance(body, str) else body,
                         {'Content-Type': 'application/json'})

    d.post_reports({'app': {'bundle_id': 'com.example.shop'}, 'reports': [
        {'id': 'r', 'stack': [{'uuid': '0285884D-3DE9-3051-B23A-63B48BF99F35', 'offset': 4096}]}]},
        status=202)
    d.settle()
    before = [d.get(p) for p in ('/v1/alerts', APP + '/config', APP + '/quota')]
    for method, path, body, place in NUMBERS:
        for value in WRONG:
            sent = body.replace('HOLE', value)
            refused(send(method, path, sent), place, (method, path, sent))
    for method, path, body, place in OTHERS:
        refused(send(method, path, json.dumps(body)), place, (method, path, body))
    assert before == [d.get(p) for p in ('/v1/alerts', APP + '/config', APP + '/quota')]

    # 30.0 is 30; null is as if it were not there
    assert send('PUT', APP + '/config', '{"defaults": {"batch_size": 30.0}, "based_on": null}').status == 200
    assert d.get(APP + '/config')['batch_size'] == 30
    assert send('PUT', '/v1/alerts', '{"targets": [], "rules": [{"mute": true, "min_reports": 7.0}]}').status == 200
    assert d.get('/v1/alerts')['rules'][0]['min_reports'] == 7
    answer = send('POST', '/v1/clusters/merge', '{"into": 998.0, "from": [999.0]}')
    assert answer.status == 404 and 'cluster' in answer.json['detail'], answer

    # one rule for what is no JSON at all, and for what is none of an object's
    for method, path in sorted(BODIES):
        for body in (b'', b'{', b'{"a": 1, "a": 2}', b'{"a\\u0000": 1}', b'{"a": "\xff"}', b'nonsense', b'1'):
            answer = send(method, path, body)
            assert answer.status == 400, (method, path, body, answer)
            assert answer.headers['Content-Type'] == 'application/problem+json' and answer.json['detail']
        answer = send(method, path, '[]')
        assert answer.status == 422, (method, path, answer)
        answer = send(method, path, '{"no_such_member": 1}')
        if path != '/v1/symbolicate':
            refused(answer, 'no_such_member', (method, path))
        answer = d.request(method, path, b'{}', {'Content-Type': 'image/png'})
        assert answer.status == 415, (method, path, answer)

    # reports with fields that nobody reads: taken, and told
    answer = d.request('POST', '/v1/reports', json.dumps({
        'app': {'bundle_id': 'com.example.shop'}, 'sent_by': 'sdk 9',
        'reports': [{'id': 'r%d' % i, 'duration': 900, 'stack': ['0x1']} for i in range(3)]}).encode(),
        {'Content-Type': 'application/json'})
    assert answer.status == 202 and answer.json['accepted'] == 3, answer
    assert answer.json['ignored_fields'] == [
        {'path': 'sent_by', 'count': 1}, {'path': 'reports[].duration', 'count': 3}], answer
    answer = d.request('POST', '/v1/reports', b'{"bundle_id": "com.example.shop", "stak": "0x1", "kind": "stall"}',
                       {'Content-Type': 'application/json'})
    assert answer.status == 422 and answer.json['rejected'][0]['path'] == 'stack', answer
    assert answer.json['ignored_fields'] == [{'path': 'stak', 'count': 1}], answer
    answer = d.request('POST', '/v1/usage', b'{"bundle_id": "com.example.shop", "launches": 1, "screen": "A"}',
                       {'Content-Type': 'application/json'})
    assert answer.json['ignored_fields'] == [{'path': 'screen', 'count': 1}], answer
    assert 'stallsym_fields_ignored_total 6\n' in d.request('GET', '/metrics').body.decode()
