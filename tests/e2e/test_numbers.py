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

    # What the shares are of, with reports that are in no listed cluster; sampled ones; without a version.
    other = [{'bundle_id': 'com.example.other', 'id': 'o%d' % i, 'duration_ms': 1000, 'sample_rate': 0.5,
              'images': [IMAGE], 'stack': ['0x100001000']} for i in range(3)]
    d.post_reports(json.dumps({'reports': other + [
        {'bundle_id': 'com.example.other', 'id': 'skipped', 'duration_ms': 500, 'stack_skipped': 'cpu_high'}]}))
    d.settle()
    row, = d.get('/v1/clusters?bundle_id=com.example.other')['items']
    assert row['share_of'] == {'weighted_count': 7, 'weighted_stall_seconds': 6.5}, row
    assert abs(row['share'] - 6 / 7) < 1e-9 and abs(row['stall_share'] - 6 / 6.5) < 1e-9, row
    stack, = d.get('/v1/clusters/%d' % row['id'])['stacks']
    assert (stack['stall_seconds'], stack['weighted_stall_seconds']) == (3, 6), stack
    told = {k['key']: (k['bundle_id'], k['version'])
            for k in d.get('/v1/stats?fresh=1')['symbolication']['version']}
    assert told == {APP + ' 1.0': (APP, '1.0'), APP + ' 1.1': (APP, '1.1'),
                    'com.example.other': ('com.example.other', None)}, told

    # Used without a stall: a rate of 0, where use is known as the rows are split.
    post_usage(d, {'app': {'bundle_id': 'com.example.other', 'version': '2'}, 'id': 'quiet',
                   'items': [{'page': 'Quiet', 'foreground_ms': HOUR}, {'page': '', 'foreground_ms': 2 * HOUR}]})
    query = '?bundle_id=com.example.other'
    rows = {(r['value'], r['value2']): (r['count'], r['stall_rate'], r['usage_hours'])
            for r in d.get('/v1/breakdown%s&by=page,version' % query)['items']}
    assert rows == {('', ''): (4, None, 0), ('Quiet', '2'): (0, 0, 1), ('', '2'): (0, 0, 2)}, rows
    for path in '/v1/breakdown', '/v1/clusters/%d/breakdown' % row['id']:
        rows = d.get('%s%s&by=page' % (path, query))['items']
        assert [r['value'] for r in rows] == ['', 'Quiet'], rows
        assert (rows[1]['count'], rows[1]['stall_rate'], rows[1]['share'], rows[1]['p50_ms']) == (0, 0, 0, None), rows
    assert len(d.get('/v1/breakdown%s&by=page,device' % query)['items']) == 1
    trend = d.get('/v1/trends%s&by=day&group=page' % query)['items']
    assert [(s['value'], s['count'], s['stall_rate']) for s in trend] == [('', 4, 3.25), ('Quiet', 0, 0)], trend

    # Which apps there are; a bound token sees its own.
    apps = d.get('/v1/apps')['items']
    assert [(a['bundle_id'], a['reports'], a['recent_reports']) for a in apps] == [
        (APP, len(reports), len(reports)), ('com.example.other', 4, 4)], apps
    assert apps[0]['first_seen'] <= apps[0]['last_seen'] <= apps[1]['first_seen'], apps
    page = d.get('/v1/apps?limit=1')
    assert page['items'] == apps[:1]
    assert d.get('/v1/apps?limit=1&cursor=' + page['next_cursor'])['items'] == apps[1:]
    post_usage(d, {'app': {'bundle_id': 'com.example.use'}, 'items': [{'launches': 1}]})
    last = d.get('/v1/apps')['items'][-1]
    assert last == {'bundle_id': 'com.example.use', 'reports': 0, 'recent_reports': 0, 'first_seen': None,
                    'last_seen': None}, last
    bound = d.request('POST', '/v1/admin/tokens', json.dumps({'scopes': ['read'], 'bundle_id': APP}),
                      {'Content-Type': 'application/json'}).json['token']
    assert d.request('GET', '/v1/apps', token=bound).json['items'] == apps[:1]
    assert d.request('GET', '/v1/apps?bundle_id=com.example.other', token=bound).status == 403
    assert d.request('GET', '/v1/apps?days=0').status == 400
print('ok')
