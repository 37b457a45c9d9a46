#!/usr/bin/env python3
"""What clusters are made of, through the real daemon: the labelled stacks sent as reports give the
clusters of `stallsymd cluster`, in any order and across kills; merges and splits by hand, their rules
and their undoing; re-clustering with other rules and back; another form of keys.

Covers: server/jobs/epoch_carry.c
"""
import collections, json, os, random, re, signal, sqlite3, subprocess, sys, tempfile, time
from daemon import DATA, Daemon, PROGRAM, skip

APP = 'com.example.labelled'
MODULE_SPAN = 0x10000000
UNNAMED = re.compile(r'(0x[0-9a-fA-F]+|<redacted>|\?+|)$')


def reports_of(rows, bundle_id=APP):
    """One report a row: frames with the names a device would give, in images without a UUID."""
    modules, places = {}, {}
    for row in rows:
        for module in row['modules']:
            modules.setdefault(module, 0x100000000 + MODULE_SPAN * len(modules))
    images = [{'name': name, 'load_address': hex(base), 'size': MODULE_SPAN}
              for name, base in modules.items()]
    out = []
    for row in rows:
        stack = []
        for i, (name, module) in enumerate(zip(row['frames'], row['modules'])):
            offset = places.setdefault((module, name), 0x10 * (len(places) + 1))
            stack.append({'address': hex(modules[module] + offset), 'symbol': name,
                          'kind': 'leaf' if i == 0 else 'return'})
        out.append({'id': row['id'], 'kind': 'stall', 'duration_ms': row.get('duration_ms', 900),
                    'stack': stack})
    return images, out


def post(d, images, reports, bundle_id=APP):
    for at in range(0, len(reports), 200):
        body = {'app': {'bundle_id': bundle_id, 'version': '1.0', 'build': '1'},
                'images': images, 'reports': reports[at:at + 200]}
        answer = d.post_reports(body, status=202).json
        assert not answer['rejected'], answer['rejected'][:3]


def recluster(d, query='', seconds=60):
    answer = d.request('POST', '/v1/admin/recluster' + query)
    assert answer.status == 202, answer
    wait_for_work(d, seconds)
    return answer.json


def wait_for_work(d, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        state = d.get('/v1/admin/recluster')
        if state['open'] == 0:
            return state
        assert time.monotonic() < deadline, state
        time.sleep(0.02)


def clusters_of(d, ids, bundle_id=APP):
    if len(ids) < 50:
        return {i: d.get('/v1/reports/%s?bundle_id=%s' % (i, bundle_id))['cluster_id']
                for i in ids}
    out = {}
    for c in d.all_items('/v1/clusters?include_hidden=1&bundle_id=' + bundle_id):
        for report in d.all_items('/v1/clusters/%d/reports' % c['id']):
            assert report['cluster_id'] == c['id'] and report['id'] not in out, report
            out[report['id']] = c['id']
    assert set(out) == set(ids), set(ids) ^ set(out)
    return out


def partition(clusters):
    groups = collections.defaultdict(list)
    for i, c in clusters.items():
        groups[c].append(i)
    return sorted(sorted(g) for g in groups.values())


def check_sums(d, bundle_id=APP):
    """Clusters are the sums of their stacks and parts, all together of the reports."""
    total = 0
    for c in d.all_items('/v1/clusters?include_hidden=1&bundle_id=' + bundle_id):
        detail = d.get('/v1/clusters/%d' % c['id'])
        assert detail['count'] == sum(p['count'] for p in detail['parts']), detail['id']
        assert detail['stack_count'] <= sum(p['stack_count'] for p in detail['parts'])
        by_day = d.get('/v1/clusters/%d/breakdown?by=day' % c['id'])['items']
        assert detail['count'] == sum(x['count'] for x in by_day), detail['id']
        total += c['count']
    return total


def check_file(d):
    """The same in the file, as a kill left it."""
    db = sqlite3.connect(str(d.folder / 'data' / 'stallsym.db'))
    broken = db.execute("""
        SELECT c.id FROM clusters c JOIN cluster_totals t ON t.cluster_id = c.id
        WHERE (t.count, t.weighted, t.stall_ms) IS NOT (
            SELECT sum(count), sum(weighted), sum(stall_ms) FROM stacks WHERE cluster_id = c.id)
        UNION ALL
        SELECT s.id FROM stacks s WHERE state < 2 AND (s.count, s.weighted, s.stall_ms) IS NOT (
            SELECT sum(count), sum(weighted), sum(stall_ms) FROM counters WHERE stack_id = s.id)
        """).fetchall()
    assert not broken, broken
    assert db.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    db.close()


def write(d, method, path, body=None, status=202):
    answer = d.request(method, path, json.dumps(body) if body is not None else None,
                       {'Content-Type': 'application/json'} if body is not None else None)
    assert answer.status == status, (path, body, answer)
    return answer.json if answer.body else None


# --- labelled stacks -------------------------------------------------------------------------------

def labelled():
    path = DATA / 'clusters' / 'ios_stalls_dev.jsonl'
    if not path.exists():
        return None
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    # A frame without a name waits for its symbol file here; the command waits for nothing.
    return [r for r in rows if not any(UNNAMED.match(f) and m.startswith('Nimbus')
                                       for f, m in zip(r['frames'], r['modules']))]


def by_command(rows):
    text = '\n'.join(json.dumps({k: r[k] for k in ('id', 'frames', 'modules')}) for r in rows)
    out = subprocess.run([PROGRAM, 'cluster'], input=text + '\n', capture_output=True, text=True,
                         check=True).stdout
    return dict(line.split('\t') for line in out.splitlines())


def test_labelled(rows):
    want = partition(by_command(rows))
    ids = [r['id'] for r in rows]
    with Daemon() as d:
        images, reports = reports_of(rows)
        random.Random(7).shuffle(reports)
        # Half of them, an epoch, then the other half: the same as all at once.
        half = len(reports) // 2
        post(d, images, reports[:half])
        d.settle()
        recluster(d)
        post(d, images, reports[half:])
        d.settle()
        begun = time.monotonic()
        recluster(d, '?bundle_id=' + APP)
        took = time.monotonic() - begun
        got = clusters_of(d, ids)
        assert partition(got) == want, 'the daemon clusters otherwise than the command'
        assert check_sums(d) == len(rows)
        score = DATA / 'tools' / 'cluster_eval.py'
        with tempfile.NamedTemporaryFile('w', suffix='.tsv') as f:
            f.write(''.join('%s\t%s\n' % x for x in got.items()))
            f.flush()
            line = subprocess.run([sys.executable, str(score), 'score',
                                   str(DATA / 'clusters/ios_stalls_dev.jsonl'), f.name],
                                  capture_output=True, text=True).stdout.splitlines()[2]
        figures = [float(x) for x in line.split('|')[2:9]]
        print('labelled stacks through the daemon: P %.3f R %.3f F1 %.3f B3-F1 %.3f, '
              '%d clusters, epoch %.2f s' % (*figures[:3], figures[6], len(want), took))
        assert figures[0] >= .95 and figures[1] >= .85 and figures[6] >= .93, line

        # Again with nothing new: nothing changes.
        rules = d.all_items('/v1/clusters/rules?bundle_id=' + APP)
        recluster(d)
        state = wait_for_work(d)
        assert [w['stacks_changed'] for w in state['items'] if w['kind'] == 'recluster'] == [0]
        assert clusters_of(d, ids) == got
        assert d.all_items('/v1/clusters/rules?bundle_id=' + APP) == rules
        assert rules and all(not r['by_hand'] and 0 < r['score'] <= 1 for r in rules)
        test_explained(d)
        test_rules_change(d, ids, got)


def test_explained(d):
    """A merged cluster says what it is made of; a frame of learnt plumbing says so."""
    merged = plumbing = related = 0
    for c in d.all_items('/v1/clusters?bundle_id=' + APP):
        detail = d.get('/v1/clusters/%d' % c['id'])
        for part in detail['parts']:
            assert part['own'] == (part['merged_by'] is None), part
            merged += part['merged_by'] is not None
        related += len(detail['related'])
        fates = [f['rule'] for raw in detail['stack'] for f in raw['frames']]
        if 'plumbing learnt from this app\'s stacks' in fates:
            plumbing += ' < ' in detail['key']['text']
            assert 'behind learnt plumbing' in fates, detail['id']
        for other in detail['related']:
            assert other['id'] != detail['id'] and 0 < other['score'] < 1.000001
    assert merged and plumbing, (merged, plumbing, related)
    print('%d merged parts, %d clusters behind learnt plumbing, %d related' %
          (merged, plumbing, related))


def test_rules_change(d, ids, before):
    """Other rules, everything moves; the old rules again, every id is back."""
    rules = d.folder / 'cluster.rules'
    text = rules.read_text() if rules.exists() else None
    assert text is None
    living = {c: d.get('/v1/clusters/%d' % c)['title'] for c in set(before.values())}
    d.stop()
    default = open('conf/cluster.rules').read()
    rules.write_text(default)
    d.env['STALLSYM_CLUSTERS_RULES'] = str(rules)
    d.start()
    recluster(d)
    assert clusters_of(d, ids) == before
    rules.write_text('group=everything: *\n' + default)
    d.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 10
    while not d.get('/readyz')['recluster_due']:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert clusters_of(d, ids) == before  # until it is asked for
    recluster(d)
    after = clusters_of(d, ids)
    assert len(set(after.values())) < len(set(before.values())) / 2
    assert check_sums(d) == len(ids)
    for c in living:
        assert d.get('/v1/clusters/%d' % c)['id'] in after.values()
    rules.write_text('this is no rule\n')
    answer = d.request('POST', '/v1/admin/recluster')
    assert answer.status == 409 and b'cluster.rules' not in answer.body, answer
    rules.write_text(default)
    recluster(d)
    assert clusters_of(d, ids) == before
    deadline = time.monotonic() + 10
    while d.get('/readyz')['recluster_due']:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_killed(rows):
    """kill -9 while it re-clusters, again and again: the end is the same."""
    rows = rows[:600]
    ids = [r['id'] for r in rows]
    want = partition(by_command(rows))
    with Daemon() as d:
        images, reports = reports_of(rows)
        post(d, images, reports)
        d.settle()
        for delay in (0, .01, .03, .06, .12):
            answer = d.request('POST', '/v1/admin/recluster')
            assert answer.status == 202, answer
            time.sleep(delay)
            d.stop(signal.SIGKILL)
            check_file(d)
            d.start()
        wait_for_work(d)
        d.settle()
        assert partition(clusters_of(d, ids)) == want
        assert check_sums(d) == len(rows)


# --- by hand ---------------------------------------------------------------------------------------

HAND = 'com.example.hand'


def row(i, *frames, count=1):
    system = {'read', 'start', 'mach_msg'}
    return {'id': i, 'frames': list(frames),
            'modules': ['libsystem_kernel.dylib' if f in system else 'Shop' for f in frames]}


def hand_rows():
    return [row('a1', 'read', 'Feed.load()', 'Feed.show()', 'start'),
            row('a2', 'read', 'Feed.load()', 'Feed.refresh()', 'start'),
            row('b1', 'read', 'Cart.total()', 'Cart.show()', 'start'),
            row('c1', 'read', 'Lock.with(_:)', 'Photo.save()', 'start'),
            row('c2', 'read', 'Lock.with(_:)', 'Photo.load()', 'start'),
            row('c3', 'read', 'Lock.with(_:)', 'Audio.play()', 'Player.start()', 'start')]


def test_by_hand():
    with Daemon() as d:
        images, reports = reports_of(hand_rows())
        post(d, images, reports, HAND)
        post(d, images, reports[:1], 'com.example.other')
        d.settle()
        ids = [r['id'] for r in hand_rows()]
        at = lambda: clusters_of(d, ids, HAND)
        start = at()
        feed, cart, lock = start['a1'], start['b1'], start['c1']
        assert partition(start) == [['a1', 'a2'], ['b1'], ['c1', 'c2', 'c3']]
        other = d.get('/v1/reports/a1?bundle_id=com.example.other')['cluster_id']

        # What cannot be.
        write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': [feed]}, 422)
        write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': []}, 422)
        write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'form': [cart]}, 422)
        write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': [4711]}, 404)
        problem = write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': [other]}, 409)
        assert 'different apps' in problem['detail'], problem
        problem = write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': [cart, other]}, 409)
        assert not d.all_items('/v1/clusters/rules'), 'a refused merge left half of it'
        write(d, 'POST', '/v1/clusters/%d/split' % feed, {}, 422)
        write(d, 'POST', '/v1/clusters/%d/split' % feed, {'depth': 1}, 422)
        write(d, 'POST', '/v1/clusters/%d/split' % feed, {'part': '00'}, 422)
        write(d, 'POST', '/v1/clusters/%d/split' % feed, {'part': '0' * 32}, 404)
        own = d.get('/v1/clusters/%d' % feed)['parts'][0]['key']
        problem = write(d, 'POST', '/v1/clusters/%d/split' % feed, {'part': own}, 409)
        assert 'own part' in problem['detail'], problem
        reader = write(d, 'POST', '/v1/admin/tokens', {'name': 'r', 'scopes': ['read']}, 201)['token']
        for method, path in (('POST', '/v1/clusters/merge'), ('POST', '/v1/admin/recluster'),
                             ('DELETE', '/v1/clusters/rules/1')):
            assert d.request(method, path, token=reader).status == 403, path
        assert d.request('GET', '/v1/clusters/rules', token=reader).status == 200

        # Cart into feed: the id of cart leads on, new stacks land there at once.
        rule = write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': [cart]})['rules'][0]
        wait_for_work(d)
        now = at()
        assert now['b1'] == feed and now['a1'] == feed, now
        assert d.get('/v1/clusters/%d' % cart)['id'] == feed
        assert cart in d.get('/v1/clusters/%d' % feed)['aliases']
        more = hand_rows() + [row('b2', 'read', 'Cart.total()', 'Cart.pay()', 'start')]
        images, reports = reports_of(more)
        post(d, images, reports, HAND)
        d.settle()
        assert clusters_of(d, ['b2'], HAND)['b2'] == feed
        problem = write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': [cart]}, 409)
        detail = d.get('/v1/clusters/%d' % feed)
        assert [(p['title'], p['count']) for p in detail['parts'] if not p['own']] == \
            [('Cart.total()', 2)], detail['parts']
        assert detail['count'] == 4 and detail['title'] == 'Feed.load()'
        recluster(d)  # decisions last
        assert at()['b1'] == feed

        # Undone: cart has its id again.
        write(d, 'DELETE', '/v1/clusters/rules/%d' % rule, status=204)
        wait_for_work(d)
        assert at()['b1'] == cart and clusters_of(d, ['b2'], HAND)['b2'] == cart
        assert d.get('/v1/clusters/%d' % cart)['id'] == cart
        write(d, 'DELETE', '/v1/clusters/rules/%d' % rule, status=409)
        write(d, 'DELETE', '/v1/clusters/rules/4711', status=404)

        # A lock is shared by several causes.
        rule = write(d, 'POST', '/v1/clusters/%d/split' % lock, {'depth': 2})['rules'][0]
        wait_for_work(d)
        now = at()
        assert len({now['c1'], now['c2'], now['c3']}) == 3, now
        titles = {d.get('/v1/clusters/%d' % now[i])['title'] for i in ('c1', 'c2', 'c3')}
        assert titles == {'Lock.with(_:) < Photo.save()', 'Lock.with(_:) < Photo.load()',
                          'Lock.with(_:) < Audio.play()'}, titles
        assert d.get('/v1/clusters/%d' % lock)['id'] in now.values()
        stack = d.get('/v1/clusters/%d' % now['c1'])['stack']
        assert 'split by hand' in [f['rule'] for raw in stack for f in raw['frames']]
        more = more + [row('c4', 'read', 'Lock.with(_:)', 'Photo.save()', 'Tap.now()', 'start')]
        images, reports = reports_of(more)
        post(d, images, reports, HAND)
        d.settle()
        assert clusters_of(d, ['c4'], HAND)['c4'] == now['c1']
        recluster(d)
        assert at() == now
        d.restart(signal.SIGKILL)
        assert at() == now
        write(d, 'DELETE', '/v1/clusters/rules/%d' % rule, status=204)
        wait_for_work(d)
        assert partition(at()) == partition(start)
        assert at()['c1'] == lock, 'the id is not back'
        assert check_sums(d, HAND) == len(more)

        kinds = [(r['kind'], r['by_hand'], r['undone_at'] is not None)
                 for r in d.all_items('/v1/clusters/rules?undone=1')]
        assert kinds == [('depth', True, True), ('merge', True, True)], kinds

        # Idle and provisional clusters are no causes.
        idle = [{'id': 'i1', 'frames': ['mach_msg2_trap', 'mach_msg', '__CFRunLoopServiceMachPort',
                                        '__CFRunLoopRun', 'CFRunLoopRunSpecific', 'GSEventRunModal',
                                        '-[UIApplication _run]', 'UIApplicationMain', 'main'],
                 'modules': ['libsystem_kernel.dylib'] * 2 + ['CoreFoundation'] * 3 +
                            ['GraphicsServices'] + ['UIKitCore'] * 2 + ['Shop']}]
        images, reports = reports_of(idle)
        post(d, images, reports, HAND)
        body = {'app': {'bundle_id': HAND}, 'images': [
            {'name': 'Shop', 'uuid': '0285884D-3DE9-3051-B23A-63B48BF99F35', 'slide': '0x0',
             'load_address': '0x100000000',
             'path': '/var/containers/Bundle/Application/X/Shop.app/Shop'}],
            'reports': [{'id': 'p1', 'kind': 'stall', 'duration_ms': 900, 'stack': ['0x100001000']}]}
        d.post_reports(body, status=202)
        d.settle()
        now = clusters_of(d, ['i1', 'p1'], HAND)
        problem = write(d, 'POST', '/v1/clusters/merge', {'into': feed, 'from': [now['i1']]}, 409)
        assert 'idle' in problem['detail'], problem
        problem = write(d, 'POST', '/v1/clusters/merge', {'into': now['p1'], 'from': [feed]}, 409)
        assert 'provisional' in problem['detail'], problem


def test_kept_apart(rows):
    """A merge of the epoch's that is taken back stays so, until that is undone."""
    with Daemon() as d:
        images, reports = reports_of(rows)
        post(d, images, reports)
        d.settle()
        recluster(d)
        merge = max(d.all_items('/v1/clusters/rules?bundle_id=' + APP), key=lambda r: r['id'])
        cluster = merge['cluster_id']
        write(d, 'POST', '/v1/clusters/%d/split' % cluster, {'part': merge['from']})
        wait_for_work(d)
        rules = {r['from']: r for r in d.all_items('/v1/clusters/rules?bundle_id=' + APP)}
        apart = rules[merge['from']]
        assert apart['kind'] == 'apart' and apart['cluster_id'] != cluster, apart
        for _ in range(2):
            recluster(d)
            rules = {r['from']: r for r in d.all_items('/v1/clusters/rules?bundle_id=' + APP)}
            assert rules[merge['from']]['kind'] == 'apart', rules[merge['from']]
        assert check_sums(d) == len(rows)
        write(d, 'DELETE', '/v1/clusters/rules/%d' % apart['id'], status=204)
        recluster(d)
        rules = {r['from']: r for r in d.all_items('/v1/clusters/rules?bundle_id=' + APP)}
        assert rules[merge['from']]['kind'] == 'merge', 'not merged again'
        assert rules[merge['from']]['into'] == merge['into']


def as_of_another_form(d):
    """The file as a program of another key form left it: every key another one, no overlay."""
    db = sqlite3.connect(str(d.folder / 'data' / 'stallsym.db'))
    db.create_function('other', 1, lambda key: key and bytes(b ^ 0x5a for b in key))
    for table, column in (('stacks', 'part_key'), ('clusters', 'key'), ('cluster_aliases', 'key'),
                          ('cluster_rules', 'from_key'), ('cluster_rules', 'into_key')):
        db.execute('UPDATE %s SET %s = other(%s)' % (table, column, column))
    db.execute("UPDATE clusters SET rules_version = 'of before'")
    db.execute('DELETE FROM cluster_related')
    db.execute('DELETE FROM cluster_overlays')
    db.commit()
    db.close()


def test_new_key_form():
    """Decisions are about keys; with another form of keys they are said anew of those that come out."""
    with Daemon() as d:
        rows = hand_rows() + [row('d1', 'read', 'Gamma.go()', 'Tap.now()', 'start'),
                              row('d2', 'read', 'Gamma.go()', 'Key.now()', 'start'),
                              row('e1', 'read', 'Delta.go()', 'Tap.now()', 'start')]
        ids = [r['id'] for r in rows]
        post(d, *reports_of(rows), HAND)
        d.settle()
        at = clusters_of(d, ids, HAND)
        merge = write(d, 'POST', '/v1/clusters/merge', {'into': at['a1'], 'from': [at['b1']]})['rules'][0]
        write(d, 'POST', '/v1/clusters/merge', {'into': at['d1'], 'from': [at['e1']]})
        wait_for_work(d)
        delta = [p['key'] for p in d.get('/v1/clusters/%d' % at['d1'])['parts'] if not p['own']]
        apart = write(d, 'POST', '/v1/clusters/%d/split' % at['d1'], {'part': delta[0]})['rules'][0]
        depth = write(d, 'POST', '/v1/clusters/%d/split' % at['c1'], {'depth': 2})['rules'][0]
        wait_for_work(d)
        decided = clusters_of(d, ids, HAND)
        want = [['a1', 'a2', 'b1'], ['c1'], ['c2'], ['c3'], ['d1', 'd2'], ['e1']]
        assert partition(decided) == want, partition(decided)
        rules = d.all_items('/v1/clusters/rules?bundle_id=' + HAND)
        assert {r['id']: r['kind'] for r in rules} == {merge: 'merge', apart: 'apart', depth: 'depth'}, rules
        for forms in range(2):
            d.stop()
            as_of_another_form(d)
            d.start()
            recluster(d)
            now = clusters_of(d, ids, HAND)
            assert partition(now) == want, (forms, partition(now))
            # Old ids answer, those with the most weight as themselves or as aliases.
            led = {i: d.get('/v1/clusters/%d' % c)['id'] for i, c in decided.items()}
            assert led == now, (decided, led, now)
            assert check_sums(d, HAND) == len(ids)
            after = d.all_items('/v1/clusters/rules?bundle_id=' + HAND)
            # With the keys of the form of now, which is that of the beginning.
            assert [dict(r, cluster_id=0) for r in after] == [dict(r, cluster_id=0) for r in rules]
            assert {r['id']: r['cluster_id'] for r in after}[merge] == now['b1'], after
            # Again, nothing is new.
            recluster(d)
            assert d.all_items('/v1/clusters/rules?bundle_id=' + HAND) == after
            assert clusters_of(d, ids, HAND) == now
            rules = after
        # They can be undone as ever.
        write(d, 'DELETE', '/v1/clusters/rules/%d' % merge, status=204)
        write(d, 'DELETE', '/v1/clusters/rules/%d' % depth, status=204)
        wait_for_work(d)
        assert partition(clusters_of(d, ids, HAND)) == \
            [['a1', 'a2'], ['b1'], ['c1', 'c2', 'c3'], ['d1', 'd2'], ['e1']]
        assert check_sums(d, HAND) == len(ids)
        d.stop()
        check_file(d)


test_by_hand()
test_new_key_form()
stacks = labelled()
if stacks is None:
    print('skipped: labelled stacks, they are not there')
else:
    test_labelled(stacks)
    test_killed(stacks)
    test_kept_apart(stacks[:600])
