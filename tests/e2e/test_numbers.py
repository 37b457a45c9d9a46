#!/usr/bin/env python3
"""Usage, rates, trends and the comparison of two versions, against the real daemon and across a
restart: a version that stalls three times as often an hour is called worse, an equal one is not."""
import json
from daemon import Daemon

APP = 'com.example.numbers'
HOUR = 3600000
IMAGE = {'uuid': '0285884D-3DE9-3051-B23A-63B48BF99F35', 'name': 'Shop', 'load_address': '0x100000000',
         'size': 1 << 20}


def report(version, number, stack):
    return {'bundle_id': APP, 'app_version': version, 'id': '%s-%s-%d' % (version, stack, number),
            'kind': 'stall', 'duration_ms': 1000, 'cpu_usage': 50 + number % 10, 'memory_usage': 300,
            'device': 'iPhone14,7', 'page': 'Home', 'path': ['Home', 'Feed'], 'images': [IMAGE], 'stack': [stack]}


def usage(version, hours, rate=1):
    return {'id': 'usage-' + version, 'app': {'bundle_id': APP, 'version': version},
            'device': {'model': 'iPhone14,7'}, 'sample_rate': rate,
            'items': [{'page': 'Home', 'foreground_ms': int(hours * HOUR * rate), 'launches': 10}]}


def post_usage(d, body):
    answer = d.request('POST', '/v1/usage', json.dumps(body).encode(),
                       {'Content-Type': 'application/json'})
    assert answer.status == 202, answer
    return answer.json


with Daemon() as d:
    reports = [report('1.0', i, '0x100001000') for i in range(60)] + [report('1.0', i, '0x100002000') for i in range(60)]
    reports += [report('1.1', i, '0x100001000') for i in range(180)] + [report('1.1', i, '0x100002000') for i in range(62)]
    reports += [report('1.1', i, '0x100003000') for i in range(12)]
    d.post_reports(json.dumps({'reports': reports}))
    assert post_usage(d, usage('1.0', 100))['accepted'] == 1
    assert post_usage(d, usage('1.1', 100, 0.5))['accepted'] == 1
    assert post_usage(d, usage('1.1', 100, 0.5)) == {'accepted': 0, 'duplicates': 1, 'rejected': [], 'dropped': []}
    d.settle()
    d.restart()

    query = '/v1/breakdown?bundle_id=%s&by=version' % APP
    rows = {r['value']: r for r in d.get(query)['items']}
    assert abs(rows['1.0']['stall_rate'] - 1.2) < 1e-9, rows
    assert abs(rows['1.1']['usage_hours'] - 100) < 1e-9 and rows['1.1']['launches'] == 20, rows
    assert abs(rows['1.0']['memory_mb']['p90'] - 300) <= 6, rows

    answer = d.get('/v1/compare?bundle_id=%s&version=1.0&compare_version=1.1' % APP)
    assert answer['basis'] == 'usage' and answer['clusters'] == 3, answer
    assert answer['app']['verdict'] == 'higher', answer
    found = sorted((i['version']['count'], i['compare_version']['count'], i['verdict'], i['change'])
                   for i in answer['items'])
    assert found == [(0, 12, 'higher', 'new'), (60, 62, 'unclear', None), (60, 180, 'higher', None)], found
    worst = answer['items'][0]
    assert worst['ratio_low'] < 3 < worst['ratio_high'] and worst['q'] < 1e-6, worst

    for by, group in ('day', 'version'), ('hour', 'version'), ('week', 'device'), ('day', 'category'):
        trend = d.get('/v1/trends?bundle_id=%s&by=%s&group=%s' % (APP, by, group))
        assert sum(s['count'] for s in trend['items']) == len(reports), trend
        for series in trend['items']:
            assert sum(p['count'] for p in series['points']) == series['count']

    clusters = d.all_items('/v1/clusters?bundle_id=%s&include_hidden=1' % APP)
    assert abs(sum(c['share'] for c in clusters) - 1) < 1e-6
    first = max(clusters, key=lambda c: c['count'])
    assert (first['first_version'], first['last_version']) == ('1.0', '1.1'), first
    detail = d.get('/v1/clusters/%d' % first['id'])
    assert detail['context']['paths'] == [{'value': 'Home->Feed', 'count': 240}], detail['context']
print('ok')
