#!/usr/bin/env python3
"""Quotas of apps: refused alone, 429 when nothing passed, given back to retries, an app's own over
REST; slight stalls thinned out and counted for the others; apps that unbound tokens may bring."""
import json

from daemon import Daemon


def batch(app, first, count, kind='stall'):
    return {'app': {'bundle_id': app, 'version': '1'},
            'reports': [{'id': 'r%d' % k, 'kind': kind, 'duration_ms': 900, 'stack': ['0x1000']}
                        for k in range(first, first + count)]}


def total(d, app):
    return d.get('/v1/breakdown?bundle_id=%s&by=day' % app)['items']


def put(d, app, body, status=200):
    answer = d.request('PUT', '/v1/apps/%s/quota' % app, json.dumps(body).encode(),
                       {'Content-Type': 'application/json'})
    assert answer.status == status, answer
    return answer.json


with Daemon(env={'STALLSYM_QUOTAS_REPORTS_PER_DAY': '30', 'STALLSYM_QUOTAS_APPS': '3'}) as d:
    told = d.post_reports(batch('a', 0, 20), status=202).json
    assert (told['accepted'], told['rejected']) == (20, []), told
    # a retry costs nothing in the end; while it is under way it takes its place
    told = d.post_reports(batch('a', 0, 20), status=202).json
    assert (told['accepted'], told['duplicates']) == (0, 10), told
    assert {r['reason'] for r in told['rejected']} == {'quota_exceeded'}, told
    assert len(told['rejected']) == 10 and told['retry_after_s'] > 0, told
    told = d.post_reports(batch('a', 20, 15), status=202).json
    assert told['accepted'] == 10 and len(told['rejected']) == 5, told
    assert [r['index'] for r in told['rejected']] == list(range(10, 15)), told
    answer = d.post_reports(batch('a', 100, 5))
    assert answer.status == 429 and int(answer.headers['Retry-After']) > 0, answer
    assert len(answer.json['rejected']) == 5 and answer.json['accepted'] == 0, answer
    assert sum(i['count'] for i in total(d, 'a')) == 30
    # an app's own
    assert d.get('/v1/apps/a/quota') == {'reports_per_minute': 0, 'reports_per_day': 30,
                                         'slight_sample_rate': 1.0, 'own': False}
    assert put(d, 'a', {'reports_per_day': 40})['own'] is True
    told = d.post_reports(batch('a', 200, 20), status=202).json
    assert told['accepted'] == 10 and len(told['rejected']) == 10, told
    d.restart()
    assert d.get('/v1/apps/a/quota')['reports_per_day'] == 40
    assert d.request('DELETE', '/v1/apps/a/quota').status == 204
    assert d.get('/v1/apps/a/quota')['own'] is False
    for body in ({'reports_per_day': -1}, {'slight_sample_rate': 0}, {'per_day': 1}, []):
        put(d, 'a', body, 422)

    # slight stalls
    put(d, 'thin', {'slight_sample_rate': 0.2})
    told = d.post_reports(batch('thin', 0, 500, 'slight_stall'), status=202).json
    assert told['accepted'] + told['sampled_out'] == 500 and 60 < told['accepted'] < 140, told
    again = d.post_reports(batch('thin', 0, 500, 'slight_stall'), status=202).json
    assert again['duplicates'] == told['accepted'] and again['accepted'] == 0, again
    item = total(d, 'thin')[0]
    assert item['count'] == told['accepted'] and item['weighted_count'] == 5 * item['count'], item
    told = d.post_reports(batch('thin', 1000, 20), status=202).json
    assert told['accepted'] == 20 and 'sampled_out' not in told, told

    # apps: a and thin are there; one more may come
    assert d.post_reports(batch('third', 0, 1)).status == 202
    answer = d.post_reports(batch('fourth', 0, 1))
    assert answer.status == 422 and answer.json['rejected'][0]['reason'] == 'too_many_apps', answer
    made = d.request('POST', '/v1/admin/tokens', json.dumps(
        {'name': 't', 'scopes': ['ingest'], 'bundle_id': 'fourth'}).encode(),
        {'Content-Type': 'application/json'}).json
    bound = d.request('POST', '/v1/reports', json.dumps(batch('fourth', 0, 1)).encode(),
                      {'Content-Type': 'application/json'}, made['token'])
    assert bound.status == 202, bound
    # nor may usage bring one; what only asks about apps takes no room
    usage = {'app': {'bundle_id': 'fifth'}, 'items': [{'foreground_ms': 1000}]}
    answer = d.request('POST', '/v1/usage', json.dumps(usage).encode(),
                       {'Content-Type': 'application/json'})
    assert answer.status == 422 and answer.json['rejected'][0]['reason'] == 'too_many_apps', answer
    usage['app']['bundle_id'] = 'third'
    answer = d.request('POST', '/v1/usage', json.dumps(usage).encode(),
                       {'Content-Type': 'application/json'})
    assert answer.status == 202 and answer.json['accepted'] == 1, answer

    print('ok: quotas')


def stacks(app, ids, first=0):
    return {'app': {'bundle_id': app, 'version': '1'},
            'reports': [{'id': '%s%d' % (app, k), 'duration_ms': 900, 'stack': [4096 * (first + k + 1)],
                         'images': [{'name': 'A', 'uuid': '%032x' % 77, 'load_address': 4096}]}
                        for k in ids]}


# new stacks: above the cap reports count without one, and say so; known ones go on; nor does a restart
# give any back
with Daemon(env={'STALLSYM_STORAGE_DAILY_STACKS': '10'}) as d:
    told = d.post_reports(stacks('a', range(8)), status=202).json
    assert (told['accepted'], told['dropped']) == (8, []), told
    d.restart()
    told = d.post_reports(stacks('a', range(4, 14)), status=202).json
    assert (told['accepted'], told['duplicates']) == (6, 4), told
    assert [x['index'] for x in told['dropped']] == [6, 7, 8, 9], told
    assert {(x['path'], x['reason']) for x in told['dropped']} == {('stack', 'daily_stacks')}, told
    told = d.post_reports(stacks('a', range(100, 104), -100), status=202).json
    assert (told['accepted'], told['dropped']) == (4, []), told
    told = d.post_reports(stacks('b', range(10)), status=202).json
    assert (told['accepted'], told['dropped']) == (10, []), told
    row = d.get('/v1/reports/a13?bundle_id=a')
    assert row['stack_skipped'] == 'daily_stacks' and row['stack'] == [], row
    assert sum(i['count'] for i in total(d, 'a')) == 18
    stats = d.get('/v1/stats?bundle_id=a')
    assert stats['reports'] == 18 and stats['stacks'] == 10, stats
    assert (stats['new_stacks_today'], stats['reports_above_daily_stacks_today']) == (10, 4), stats
    stats = d.get('/v1/stats')
    assert (stats['new_stacks_today'], stats['reports_above_daily_stacks_today']) == (20, 4), stats
    metrics = d.request('GET', '/metrics').body.decode()
    assert 'stallsym_reports_above_daily_stacks_total 4\n' in metrics, metrics
    print('ok: new stacks a day')
