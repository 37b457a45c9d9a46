"""No memory at the n-th allocation: the answer is a refusal or right; nothing is counted twice."""
import gzip, http.client, json, random, time
from load import JSON, Load, check_all, post_all, ready, wait_for
from faults_files import Sent
from shim import FaultyDaemon
from traffic import APP, DEMO, IMAGES, body, report

FAR = 1 << 40


def fresh(kind, n):
    return [report('%s-%d-%d' % (kind, n, i)) for i in range(4)]


def post_json(d, reports):
    return d.post_reports(body(reports))


def post_ndjson(d, reports):
    lines = '\n'.join(json.dumps(body([r])) for r in reports)
    return d.post_reports(lines, 'application/x-ndjson')


def post_gzip(d, reports):
    return d.post_reports(gzip.compress(json.dumps(body(reports)).encode()),
                          headers={'Content-Encoding': 'gzip'})


POSTS = {'json': post_json, 'ndjson': post_ndjson, 'gzip': post_gzip}
CRASH = DEMO.with_name('Shop.crash').read_bytes()
# What changes nothing, or the same each time: (method, path, body, headers, right)
OTHERS = {
    'symbolicate': ('POST', '/v1/symbolicate', CRASH, {'Content-Type': 'text/plain'}, 200),
    'clusters': ('GET', '/v1/clusters', None, {}, 200),
    'flamegraph': ('GET', '/v1/flamegraph?bundle_id=' + APP, None, {}, 200),
    'stats': ('GET', '/v1/stats', None, {}, 200),
    'missing': ('GET', '/v1/symbols/missing', None, {}, 200),
    'upload': ('POST', '/v1/symbols?wait=1', DEMO.read_bytes(), {}, 200),
    'merge': ('POST', '/v1/clusters/merge', b'{"into": 999999, "from": [999998]}', JSON, 404),
}


def ask(do):
    """The answer, None for a connection that was closed without one."""
    try:
        return do()
    except (OSError, http.client.HTTPException):
        return None


def steps(count, most):
    """1, 2, 3, ..., and past some tens every so many."""
    few = min(count, most // 2)
    rest = max(1, (count - few) // (most // 2) or 1)
    return list(range(1, few + 1)) + list(range(few + 1, count + 2, rest))


def counted(d, thread, do):
    """How many allocations it takes there."""
    d.faults.set(thread=thread, memory_times=1, allocations=0, memory_at=FAR)
    answer = do()
    n = d.faults.get('allocations')
    d.faults.clear()
    return n, answer


def sweep_posts(d, thread, most, sent, kinds=POSTS):
    seen = []
    for kind in kinds:
        post = POSTS[kind]
        warm = fresh(thread + kind, 0)
        n, answer = counted(d, thread, lambda: post(d, warm))
        assert answer.status == 202, answer
        sent.update((r['id'], r) for r in warm)
        refused = 0
        for at in steps(n, most):
            reports = fresh(thread + kind, at)
            sent.update((r['id'], r) for r in reports)
            d.faults.set(thread=thread, memory_times=1, allocations=0, memory_at=at)
            answer = ask(lambda: post(d, reports))
            d.faults.clear()
            assert d.process.poll() is None, 'it died: %s, allocation %d' % (kind, at)
            assert answer is None or answer.status in (202, 500, 503), (kind, at, answer)
            refused += answer is None or answer.status != 202
            accepted, duplicates = post_all(d, reports)
            assert accepted + duplicates == 4, (kind, at, accepted, duplicates)
            if answer and answer.status == 202 and answer.json['accepted'] == 4:
                assert accepted == 0, (kind, at, 'answered and not kept')
        seen.append('%s %d/%d' % (kind, refused, n))
    return seen


def sweep_others(d, thread, most):
    seen = []
    for kind, (method, path, data, headers, right) in OTHERS.items():
        def do():
            return d.request(method, path, data, headers)
        wanted = do()
        assert wanted.status == right, (kind, wanted)
        n, _ = counted(d, thread, do)
        refused = 0
        for at in steps(n, most) if n else []:
            d.faults.set(thread=thread, memory_times=1, allocations=0, memory_at=at)
            answer = ask(do)
            d.faults.clear()
            assert d.process.poll() is None, 'it died: %s, allocation %d' % (kind, at)
            if answer is None or answer.status in (500, 503):
                refused += 1
            else:
                assert answer.status == right, (kind, at, answer)
                if kind in ('clusters', 'flamegraph', 'symbolicate', 'missing'):
                    assert answer.body == do().body, (kind, at, 'another answer')
        seen.append('%s %d/%d' % (kind, refused, n))
    return seen


def prepared(d):
    d.upload(DEMO, status=200)
    sent = {r['id']: r for r in (report('ready-%d' % i) for i in range(200))}
    post_all(d, list(sent.values()))
    d.settle()
    return sent


def memory_parsers(quick):
    """In the threads of the door: parsers, answers."""
    with FaultyDaemon() as d:
        sent = prepared(d)
        seen = sweep_posts(d, 'MHD', 20 if quick else 160, sent)
        d.settle()
        seen += sweep_others(d, 'MHD', 10 if quick else 100)
        assert 'memory' in d.log.read_text(), 'nothing in the log'
        check_all(d, [Sent(sent)])
        return 'refused/allocations: ' + ', '.join(seen)


def memory_writer(quick):
    """In the writer and the readers."""
    with FaultyDaemon() as d:
        sent = prepared(d)
        seen = sweep_posts(d, 'writer', 20 if quick else 160, sent, ['json'])
        d.settle()
        seen += sweep_others(d, 'reader', 10 if quick else 100)
        assert 'memory' in d.log.read_text(), 'nothing in the log'
        check_all(d, [Sent(sent)])
        return 'refused/allocations: ' + ', '.join(seen)


def memory_workers(quick):
    """In the threads nobody waits for: what they make in the end is what it always is."""
    threads = ('resolver', 'parallel', 'findings', 'indexer', 'spooler', 'housekeeping')
    with FaultyDaemon() as d:
        sent = prepared(d)
        reports = [report('work-%d' % i) for i in range(400)]
        post_all(d, reports)
        sent.update((r['id'], r) for r in reports)
        d.settle()
        wanted = named(d)
    with FaultyDaemon(env={'STALLSYM_RETENTION_INTERVAL_MS': '50'}) as d:
        prepared(d)
        step = 20 if quick else 4
        for i in range(0, 400, step):
            thread = threads[i // step % len(threads)]
            d.faults.set(thread=thread, memory_times=random.choice([1, 1, 3]), allocations=0,
                         memory_at=random.randint(1, random.choice([5, 50, 400])))
            ask(lambda: d.post_reports(body(reports[i:i + step])))
            if thread in ('indexer', 'spooler'):
                ask(lambda: d.request('POST', '/v1/symbols', DEMO.read_bytes() + b'%d' % i))
            time.sleep(0.03)
            d.faults.clear()
            assert d.process.poll() is None, 'it died: %s' % thread
        wait_for(lambda: d.get('/v1/stats')['uploads_waiting'] == 0, 60, 'uploads wait for ever')
        wait_for(lambda: d.get('/v1/admin/recluster')['open'] == 0, 60, 're-clustering does not end')
        line = check_all(d, [Sent(sent)], stop=False)
        d.settle()
        assert named(d) == wanted, sorted(set(named(d)) ^ set(wanted))[:6]
        for i in range(8 if quick else 40): # merges of its own: other clusters, the same sums
            d.faults.set(thread='epochs', memory_times=1, allocations=0,
                         memory_at=random.randint(1, 400))
            ask(lambda: d.request('POST', '/v1/admin/recluster'))
            time.sleep(0.05)
            d.faults.clear()
            assert d.process.poll() is None, 'it died: epochs'
        check_all(d, [Sent(sent)])
        return line


def named(d):
    return sorted((c['title'], c['function'] or '', c['count'], c['stack_count'])
                  for c in d.all_items('/v1/clusters?include_hidden=1'))
