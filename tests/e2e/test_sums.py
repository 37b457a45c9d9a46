#!/usr/bin/env python3
"""Clients choose weights, durations and times of use: what strangers send never makes a sum overflow,
which would refuse what comes after it, or show less than nothing."""
import contextlib
import json
import sqlite3

from daemon import Daemon, SANITIZER

APP = 'com.example.sums'
BATCH, BATCHES = (10000, 17) if not SANITIZER else (500, 2)
WEEK_MS = 7 * 86400000
PATHS = ('/v1/clusters', '/v1/clusters/1', '/v1/trends?by=day', '/v1/trends?by=hour', '/v1/breakdown?by=version',
         '/v1/breakdown?by=page', '/v1/breakdown?by=device', '/v1/clusters/1/breakdown?by=day', '/v1/stats',
         '/v1/compare?bundle_id=%s&version=1&compare_version=2' % APP, '/v1/flamegraph?weight=time')


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [n for v in value for n in numbers(v)]
    return [value] if isinstance(value, (int, float)) else []


def usage(d, items):
    answer = d.request('POST', '/v1/usage', json.dumps({'app': {'bundle_id': APP}, 'items': items}).encode(),
                       {'Content-Type': 'application/json'})
    assert answer.status == 202, answer


def pairs():
    """Usage is kept for ever: pairs of values that strangers mint do not make rows without end."""
    with Daemon(env={'STALLSYM_STORAGE_DAILY_VALUES': '30'}) as d:
        minted = [(i % 30, i // 30) for i in range(900)]
        for again in range(2):
            usage(d, [{'id': '%d-%d-%d' % (again, a, b), 'page': 'p%d' % a, 'app_version': 'v%d' % b,
                       'device': 'm%d' % a, 'os_version': 'o%d' % b, 'launches': 1} for a, b in minted])
        # The ones that were there go on, the others are not lost.
        with contextlib.closing(sqlite3.connect(next((d.folder / 'data').glob('*.db')))) as database:
            for table in ('usage_devices', 'usage_pages'):
                launches = [n // 1000000 for n, in database.execute('SELECT launches FROM ' + table)]
                assert sorted(launches) == [2] * 600 + [600], (table, len(launches), sorted(launches)[-3:])


def main():
    with Daemon() as d:
        for n in range(BATCHES):
            d.post_reports({'app': {'bundle_id': APP, 'version': '1'}, 'sample_rate': 1e-6, 'reports': [
                {'id': '%d-%d' % (n, i), 'kind': 'stall', 'duration_ms': WEEK_MS, 'stack': ['0x10']}
                for i in range(BATCH)]}, status=202)
        for n in range(2):
            items = [{'id': '%d-%d' % (n, i), 'page': 'P%d' % (i % 9), 'foreground_ms': 100000000000,
                      'launches': 1000000} for i in range(BATCH)]
            answer = d.request('POST', '/v1/usage', json.dumps({
                'app': {'bundle_id': APP, 'version': '1'}, 'device': {'model': 'm%d' % n}, 'sample_rate': 1e-6,
                'items': items}).encode(), {'Content-Type': 'application/json'})
            assert answer.status == 202, answer
        # What comes after it counts, to the last one, in the same rows.
        d.post_reports({'bundle_id': APP, 'app_version': '1', 'sample_rate': 1e-6, 'duration_ms': WEEK_MS,
                        'stack': '0x10', 'id': 'last'}, status=202)
        d.settle()
        for path in PATHS:
            below = [n for n in numbers(d.get(path)) if n < 0]
            assert not below, (path, below)
        cluster = d.get('/v1/clusters')['items'][0]
        assert cluster['count'] == BATCH * BATCHES + 1 and cluster['weighted_count'] == 10000 * cluster['count'], cluster
        log = d.log.read_text()
        assert 'level=error' not in log and 'level=warn' not in log, log[-2000:]


pairs()
main()
