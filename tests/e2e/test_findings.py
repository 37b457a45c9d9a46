#!/usr/bin/env python3
"""Reports with many samples, and with threads that wait, made of real stacks: whether they come before
or after their dSYMs, and however often the daemon is killed meanwhile, each has the same culprit or
deadlock, and every cluster the same counts."""
import json, random, signal, time
from daemon import DATA, Daemon, skip

if not (DATA / 'reports/native').is_dir():
    skip('no data at ' + str(DATA))

LINES = (DATA / 'reports/native/crashprobe-release-arm64.ndjson').read_text().splitlines()
DSYMS = sorted(p for p in (DATA / 'symbols/crashprobe-release').rglob('DWARF/*') if p.is_file())
APP = 'com.example.crashprobe'


def number(value):
    return int(value, 16) if isinstance(value, str) else value


def real_stacks():
    """[stack of {uuid, offset}], and all images they lie in: runs do not share load addresses."""
    stacks, images = [], {}
    for line in LINES:
        report = json.loads(line)
        loaded = sorted((number(i['load_address']), i) for i in report['images'])
        stack = []
        for frame in report['stack']:
            address = number(frame['address'] if isinstance(frame, dict) else frame)
            inside = [(at, i) for at, i in loaded if at <= address < at + (i.get('size') or 1 << 30)]
            if inside:
                at, image = inside[-1]
                images[image['uuid']] = {**image, 'slide': '0x0'}
                stack.append({'uuid': image['uuid'], 'offset': hex(address - at)})
        if len(stack) > 4:
            stacks.append(stack)
    return stacks, list(images.values())


STACKS, IMAGES = real_stacks()
assert len(STACKS) >= 10, len(STACKS)


def moved(stack, frame, by):
    """The same stack a few instructions earlier in one of its frames."""
    stack = [dict(f) for f in stack]
    stack[frame]['offset'] = hex(number(stack[frame]['offset']) - by)
    return stack


def sampled(n):
    r = random.Random(n)
    causes = r.sample(range(len(STACKS)), 3)
    samples, at = [], 0
    for cause in causes:
        for _ in range(r.randint(1, 5)):
            stack = moved(STACKS[cause], 0, 4 * r.randrange(3))
            samples.append({'offset_ms': at, 'stack': stack})
            at += r.randint(20, 200)
    if n % 5 == 1:  # unsorted
        r.shuffle(samples)
    if n % 5 == 2:  # a fixed interval
        for sample in samples:
            del sample['offset_ms']
            sample['repeat_count'] = r.randint(1, 4)
    report = {'id': 'sampled-%d' % n, 'kind': 'hang', 'duration_ms': at, 'samples': samples,
              'app_version': '1.%d' % (n % 3), 'device': 'iPhone%d' % (n % 4)}
    if n % 5 == 2 and n % 2:
        report['sample_interval_ms'] = 50
    return report


def stuck(n, cycle):
    """Thread i waits for a mutex that thread i + 1 holds."""
    threads = []
    for i in range(3):
        stack = [dict(STACKS[(n + i) % len(STACKS)][0], symbol='__psynch_mutexwait', uuid=MUTEX,
                      offset='0x1000')] + STACKS[(n + i) % len(STACKS)][1:]
        threads.append({'tid': 100 + i, 'name': 'thread %d' % i, 'state': 'waiting', 'stack': stack,
                        'stalled': i == 0})
        if i < 2 or cycle:
            threads[i]['waits_for'] = {'kind': 'mutex', 'address': '0x2818',
                                       'owner_tid': 100 + (i + 1) % 3}
    return {'id': '%s-%d' % ('stuck' if cycle else 'chain', n), 'kind': 'hang',
            'duration_ms': 9000, 'threads': threads}


MUTEX = '99999999-0000-0000-0000-000000000001'
KERNEL = {'uuid': MUTEX, 'name': 'libsystem_kernel.dylib', 'path': '/usr/lib/system/libsystem_kernel.dylib',
          'load_address': '0x700000000', 'size': 0x40000}
REPORTS = ([sampled(n) for n in range(60)] + [stuck(n, True) for n in range(8)] +
           [stuck(n, False) for n in range(8)] +
           [{'id': 'plain-%d' % n, 'kind': 'stall', 'duration_ms': 900, 'stack': STACKS[n % len(STACKS)]}
            for n in range(20)])


def send(daemon, reports):
    answer = daemon.post_reports({'app': {'bundle_id': APP, 'version': '1.0'},
                                  'images': IMAGES + [KERNEL], 'reports': reports}, status=202).json
    assert answer['accepted'] + answer['duplicates'] == len(reports), answer


def symbols(daemon):
    for path in DSYMS:
        daemon.upload(path, status=200)


def describe(daemon):
    """What was found of each report, and every cluster's figures, without ids."""
    titles = {c['id']: c['title'] for c in daemon.all_items('/v1/clusters?include_hidden=1')}
    found = {}
    for report in REPORTS:
        row = daemon.get('/v1/reports/' + report['id'])
        c, d = row['culprit'], row['deadlock']
        assert ('samples' in report) == (c is not None), row['id']
        found[report['id']] = (titles[row['cluster_id']], row['category'], row['deadlocked'],
                               c and json.dumps(c, sort_keys=True), d and json.dumps(d, sort_keys=True))
        if c:
            check_culprit(row, c)
    clusters = {}
    for c in daemon.all_items('/v1/clusters?include_hidden=1'):
        detail = daemon.get('/v1/clusters/%d' % c['id'])
        deadlocked = daemon.all_items('/v1/clusters/%d/reports?deadlock=true' % c['id'])
        listed = daemon.all_items('/v1/clusters/%d/reports' % c['id'])
        assert len(listed) == c['count'], c
        assert detail['findings']['deadlocks'] == len(deadlocked) == sum(r['deadlocked'] for r in listed)
        clusters[c['title']] = (c['count'], c['stall_seconds'], c['p90_ms'], c['devices'],
                                c['versions'], json.dumps(detail['findings']))
    assert sum(c[0] for c in clusters.values()) == len(REPORTS)
    assert daemon.get('/v1/stats')['reports'] == len(REPORTS)
    return found, clusters


def check_culprit(row, c):
    stages = c['stages']
    assert sum(s['length_ms'] for s in stages) == c['total_ms'], c
    assert sum(s['samples'] for s in stages) == len(row['samples']), c
    longest = max(s['length_ms'] for s in stages)
    last = max(i for i, s in enumerate(stages) if s['length_ms'] == longest)
    assert c['stage'] == last and c['sample'] == stages[last]['last_sample'], c
    assert c['stage_ms'] == longest and abs(c['confidence'] - longest / c['total_ms']) < 1e-5, c
    assert row['stack'] == row['samples'][c['sample']]['stack']
    for node in c['tree']:
        if node['parent'] is not None:
            parent = c['tree'][node['parent']]
            assert node['depth'] == parent['depth'] + 1
            assert parent['start_ms'] <= node['start_ms']
            assert node['start_ms'] + node['length_ms'] <= parent['start_ms'] + parent['length_ms']
    assert sum(n['length_ms'] for n in c['tree'] if n['parent'] is None) <= c['total_ms']


def live(order):
    with Daemon() as daemon:
        if order == 'symbols first':
            symbols(daemon)
        for at in range(0, len(REPORTS), 8):
            send(daemon, REPORTS[at:at + 8])
            if order == 'one by one':
                daemon.settle()
            if order == 'killed' and at % 24 == 0:
                time.sleep(0.01)
                daemon.restart(signal.SIGKILL)
        if order == 'killed':
            for path in DSYMS:
                daemon.upload(path, status=200)
                daemon.restart(signal.SIGKILL)
            send(daemon, REPORTS)  # a client that got no answer
        elif order != 'symbols first':
            if order != 'at once':
                daemon.settle()
            symbols(daemon)
        daemon.settle()
        return describe(daemon)


def the_clear_ones():
    """What is known beforehand, on a daemon with symbols."""
    crash = '-[CRLCrashNSLog crash]'
    with Daemon() as daemon:
        symbols(daemon)
        send(daemon, REPORTS)
        daemon.settle()
        for n in range(8):
            row = daemon.get('/v1/reports/stuck-%d' % n)
            assert [t['tid'] for t in row['deadlock']['threads']] == [100, 101, 102], row['deadlock']
            assert row['deadlock']['stalled_thread'] == 'inside'
            assert all(t['function'] for t in row['deadlock']['threads']), row['deadlock']
            # Category is the cluster's everywhere, or sums and lists would not agree.
            assert row['deadlocked'] and row['category'] == daemon.get('/v1/clusters/%d' % row['cluster_id'])['category']
            assert daemon.get('/v1/reports/chain-%d' % n)['deadlock'] is None
        # One function, several places in it: without symbols other stages than with them.
        stack = next(s for s in STACKS if any(number(f['offset']) == 0x84d0 for f in s))
        frame = next(i for i, f in enumerate(stack) if number(f['offset']) == 0x84d0)
        other = next(s for s in STACKS if not any(number(f['offset']) == 0x84d0 for f in s))
        samples = [{'offset_ms': 0, 'stack': stack}, {'offset_ms': 100, 'stack': moved(stack, frame, 4)},
                   {'offset_ms': 200, 'stack': moved(stack, frame, 8)}, {'offset_ms': 300, 'stack': other}]
        send(daemon, [{'id': 'places', 'kind': 'hang', 'duration_ms': 550, 'samples': samples}])
        daemon.settle()
        c = daemon.get('/v1/reports/places')['culprit']
        assert c['function'] == crash and c['sample'] == 2 and c['stage_ms'] == 300, c
        assert c['summary'] == '300 ms of 550 ms in %s, inside -[CRLDetailViewController doCrash]' % crash, c


FIRST = live('symbols first')
for order in 'at once', 'settled', 'one by one', 'killed':
    again = live(order)
    for what, a, b in zip(('reports', 'clusters'), FIRST, again):
        differ = {k: (a.get(k), b.get(k)) for k in {**a, **b} if a.get(k) != b.get(k)}
        assert not differ, (order, what, list(differ.items())[:3])
the_clear_ones()
print('%d reports in 5 orders: one answer, %d clusters' % (len(REPORTS), len(FIRST[1])))
