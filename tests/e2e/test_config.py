#!/usr/bin/env python3
"""Remote configuration: what clients of the SDK get, who may say so, history, and what is refused."""
import json

from daemon import Daemon

APP = '/v1/apps/com.example.shop/config'


def send(d, method, path, body, status, token=True):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = d.request(method, path, data, {'Content-Type': 'application/json'}, token)
    assert answer.status == status, (method, path, body, answer)
    return answer.json


with Daemon() as d:
    first = d.get(APP)
    assert first['revision'] == 0 and first['rule'] is None and first['enabled'] is True, first
    assert (first['stall_ms'], first['slight_ms'], first['hang_ms'], first['warmup_ms'],
            first['cooldown_ms'], first['batch_size']) == (800, 500, 8000, 3000, 30000, 20), first
    assert d.request('GET', APP + '/rules').status == 404

    config = {'note': 'less from old devices:\n\t"low" ones', 'based_on': 0,
              'defaults': {'slight_sample_rate': 0.05},
              'rules': [
                  {'name': 'beta', 'if': {'version': '>=7.3', 'percentage': 50},
                   'set': {'sample_interval_ms': 20}},
                  {'name': 'old', 'if': {'device_class': 'low'}, 'set': {'sample_rate': 0.2}},
                  {'name': 'pads', 'if': {'device': ['iPad*', 'iPod*']}, 'set': {'enabled': False}}]}
    assert send(d, 'PUT', APP, config, 200) == {'revision': 1}
    # what is asked with its facts
    assert d.get(APP + '?device=iPhone8,4')['sample_rate'] == 0.2
    assert d.get(APP + '?device=iPad13,4')['enabled'] is False
    assert d.get(APP + '?device=iPad13,4&memory_mb=1024')['sample_rate'] == 0.2
    taken = {c: d.get(APP + '?version=7.10&client=%d' % c)['rule'] == 'beta' for c in range(40)}
    assert 5 < sum(taken.values()) < 35, taken
    assert not any(d.get(APP + '?version=7.2&client=%d' % c)['rule'] for c in range(40))
    # the same clients tomorrow, after a restart
    d.restart()
    assert taken == {c: d.get(APP + '?version=7.10&client=%d' % c)['rule'] == 'beta'
                     for c in range(40)}
    # the opaque value is nowhere
    d.get(APP + '?version=7.10&client=SECRET-CLIENT-VALUE')
    for path in (d.folder / 'data').rglob('*'):
        assert not path.is_file() or b'SECRET-CLIENT-VALUE' not in path.read_bytes(), path
    assert 'SECRET-CLIENT-VALUE' not in d.log.read_text()

    # ETag
    answer = d.request('GET', APP + '?device=iPhone8,4')
    again = d.request('GET', APP + '?device=iPhone8,4', headers={'If-None-Match': answer.headers['ETag']})
    assert again.status == 304 and not again.body, again
    other = d.request('GET', APP + '?device=iPad8,1', headers={'If-None-Match': answer.headers['ETag']})
    assert other.status == 200, other

    # changes: conflict, history, roll-back
    assert send(d, 'PUT', APP, {'defaults': {'stall_ms': 1000}, 'based_on': 1}, 200)['revision'] == 2
    conflict = send(d, 'PUT', APP, {'based_on': 1, 'rules': []}, 409)
    assert 'revision 2' in conflict['detail'], conflict
    assert d.get(APP)['stall_ms'] == 1000 and d.get(APP)['revision'] == 2
    assert send(d, 'POST', APP + '/rollback', {'revision': 1}, 200)['revision'] == 3
    assert d.get(APP + '?device=iPhone8,4') == {**answer.json, 'revision': 3}
    history = d.get(APP + '/revisions')['items']
    assert [h['revision'] for h in history] == [3, 2, 1], history
    assert history[0]['note'] == 'back to revision 1' and history[2]['note'] == config['note']
    assert history[0]['author'], history
    assert d.get(APP + '/rules')['config'] == {'defaults': config['defaults'], 'rules': config['rules']}
    assert d.get(APP + '/revisions/2')['config']['defaults'] == {'stall_ms': 1000}
    for path in ('/revisions/9', '/revisions/0', '/revisions/x'):
        assert d.request('GET', APP + path).status == 404, path
    send(d, 'POST', APP + '/rollback', {'revision': 77}, 404)
    assert d.get(APP + '/revisions')['items'] == history

    # refused, with its place
    for body, place in (
            ({'rules': [{'if': {'verison': '7'}}]}, 'rules[0].if.verison'),
            ({'rules': [{'if': {'version': 'new'}}]}, 'rules[0].if.version'),
            ({'rules': [{}, {'if': {'percentage': 5}}]}, 'rules[1].name'),
            ({'rules': [{'set': {'stall_ms': 10}}]}, 'rules[0].set.stall_ms'),
            ({'rules': [{'set': {'stall_ms': 9000}}]}, 'rules[0].set'),
            ({'rules': [{'set': {'stal_ms': 900}}]}, 'rules[0].set.stal_ms'),
            ({'rules': [{'if': {'device_class': 'fast'}}]}, 'rules[0].if.device_class'),
            ({'rules': [{'if': {'device': 7}}]}, 'rules[0].if.device'),
            ({'rules': ['x']}, 'rules[0]'), ({'rules': {}}, 'rules'), ({'rule': []}, 'rule'),
            ({'defaults': {'enabled': 1}}, 'defaults.enabled'),
            ({'rules': [{}] * 101}, 'rules'), ([], ''), ({'note': 'x' * 2000}, 'note'), ({'note': 'a\x00b'}, 'note'), ({'note': 'a\x1bb'}, 'note')):
        told = send(d, 'PUT', APP, body, 422)
        assert told['errors'][0]['path'].startswith(place) or place == '', (body, told)
    send(d, 'PUT', APP, b'{"rules":', 400)
    assert d.request('PUT', APP, b'{}', {'Content-Type': 'text/plain'}).status == 415
    assert d.request('GET', APP + '?client=' + 'x' * 300).status == 400
    assert d.request('GET', APP + '?memory_mb=-1').status == 400
    assert d.get(APP)['revision'] == 3

    # tokens: the SDK's asks and says nothing; bound ones know their app alone
    def token(scopes, bundle_id=None):
        made = send(d, 'POST', '/v1/admin/tokens', {'name': 't', 'scopes': scopes, **(
            {'bundle_id': bundle_id} if bundle_id else {})}, 201)
        return made['token']
    sdk, other, reader = token(['ingest'], 'com.example.shop'), token(['ingest'], 'b'), token(['read'])
    assert d.request('GET', APP, token=sdk).status == 200
    assert d.request('GET', APP, token=other).status == 403
    assert d.request('GET', APP, token=False).status == 401
    assert d.request('GET', APP + '/rules', token=sdk).status == 403
    assert d.request('GET', APP + '/rules', token=reader).status == 200
    for who in (sdk, reader):
        send(d, 'PUT', APP, {}, 403, who)
        send(d, 'POST', APP + '/rollback', {'revision': 1}, 403, who)
    print('ok: configuration')
