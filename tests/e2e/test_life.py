#!/usr/bin/env python3
"""Life of clusters: resolved in a version, regressions whatever comes first, through restarts,
aliases and late symbols.

Covers: server/http/api_life.c storage/sqlite_life.c"""
import itertools, json, pathlib, signal
from daemon import Daemon

DSYM = pathlib.Path('tests/demo/Shop.dSYM.zip')
APP = 'com.example.shop'


def batch(uuid, name, version, offset, build='1'):
    return {'app': {'bundle_id': APP, 'version': version, 'build': build},
            'device': {'model': 'iPhone14,7', 'os_version': '16.6', 'arch': 'arm64'},
            'images': [{'uuid': uuid, 'name': 'Shop', 'load_address': '0x100000000'}],
            'reports': [{'id': name, 'kind': 'stall', 'duration_ms': 900,
                         'stack': [{'uuid': uuid, 'offset': hex(offset)}]}]}


def patch(d, cluster, body, status=200):
    answer = d.request('PATCH', '/v1/clusters/%d' % cluster, json.dumps(body),
                       {'Content-Type': 'application/json'})
    assert answer.status == status, answer
    return answer.json


def only(d):
    clusters = d.get('/v1/clusters?bundle_id=%s&include_hidden=1' % APP)['items']
    assert len(clusters) == 1, clusters
    return clusters[0]


def shop_uuid():
    with Daemon() as d:
        d.upload(DSYM, 'bundle_id=%s&wait=1' % APP, 200)
        return d.get('/v1/symbols')['items'][0]['uuid']


def resolved_comes_back(uuid):
    with Daemon() as d:
        d.upload(DSYM, 'bundle_id=%s&wait=1' % APP, 200)
        d.post_reports(batch(uuid, 'a', '7.2.1', 0x4083), status=202)
        d.settle()
        c = only(d)
        assert not c['provisional'] and c['state'] == 'open', c
        token = d.request('POST', '/v1/admin/tokens', json.dumps(
            {'name': 'ann', 'scopes': ['admin']}), {'Content-Type': 'application/json'}).json['token']
        answer = d.request('PATCH', '/v1/clusters/%d' % c['id'],
                           '{"state":"resolved","resolved_in":"7.3.0","note":"off the main thread"}',
                           {'Content-Type': 'application/merge-patch+json'}, token=token)
        assert answer.status == 200 and answer.json['resolved_in'] == '7.3.0', answer
        d.restart(signal.SIGKILL)
        for version in ('7.2.1', '7.3', '7.3.0', '7.1', '7.3.0-beta.2', 'nightly'):
            d.post_reports(batch(uuid, 'v' + version, version, 0x4083), status=202)
        assert only(d)['state'] == 'resolved'
        assert not d.get('/v1/clusters?state=open')['items']
        d.post_reports(batch(uuid, 'x', '7.10', 0x4083, '71000'), status=202)
        c = only(d)
        assert (c['state'], c['resolved_in'], c['regressed_in'], c['regressed_in_build']) == \
            ('open', None, '7.10', '71000'), c
        detail = d.get('/v1/clusters/%d' % c['id'])
        assert [h['what'] for h in detail['history']] == ['regression', 'change'], detail['history']
        assert [h['who'] for h in detail['history']] == [None, 'ann'], detail['history']
        assert detail['history'] == d.get('/v1/clusters/%d/history' % c['id'])['items']
        patch(d, c['id'], {'state': 'ignored'})
        d.post_reports(batch(uuid, 'y', '8.0', 0x4083), status=202)
        assert only(d)['state'] == 'ignored'
        assert patch(d, c['id'], {'state': 'resolved'})['resolved_in'] == '8.0'


def any_order(uuid):
    """An old and a new report of a second stack of the cluster, and the symbols of their image, in
    every order: the cluster is open again each time, and its figures are the same."""
    for order in itertools.permutations(('old', 'new', 'symbols')):
        with Daemon() as d:
            d.post_reports(batch(uuid, 'a', '7.2.1', 0x4083), status=202)
            d.settle()
            provisional = only(d)
            assert provisional['provisional']
            patch(d, provisional['id'], {'state': 'resolved', 'resolved_in': '7.3.0'})
            for step in order:
                if step == 'symbols':
                    d.upload(DSYM, 'bundle_id=%s&wait=1' % APP, 200)
                else:
                    version = '7.2.0' if step == 'old' else '7.4.0'
                    d.post_reports(batch(uuid, step, version, 0x4083), status=202)
                d.settle()
            c = only(d)
            assert (c['state'], c['count'], c['regressed_in']) == ('open', 3, '7.4.0'), (order, c)
            # Through the alias: history went with it.
            alias = d.get('/v1/clusters/%d' % provisional['id'])
            assert alias['id'] == c['id'] and len(alias['history']) == 2, alias


def main():
    uuid = shop_uuid()
    resolved_comes_back(uuid)
    any_order(uuid)


main()
