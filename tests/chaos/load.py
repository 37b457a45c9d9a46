"""Clients of a daemon under faults, and what must hold once the fault is over."""
import collections, hashlib, http.client, json, random, sqlite3, threading, time
from shim import FaultyDaemon # first: it makes tests/e2e importable
from traffic import APP, DEMO, Traffic, body, check_sums, has_stack, left_behind

JSON = {'Content-Type': 'application/json'}


def wait_for(condition, seconds=60, what='waited too long'):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


class Load(Traffic):
    """Besides reports and symbols: merges, splits, re-clustering, uploads in pieces, reads."""

    def __init__(self, daemon, name, clients=3):
        self.curated = collections.Counter()
        super().__init__(daemon, name, clients)
        for run in (self.curator, self.piecemeal):
            thread = threading.Thread(target=run, daemon=True)
            self.threads.append(thread)
            thread.start()

    def curate(self, r, method, path, what=None):
        answer = self.daemon.request(method, path, json.dumps(what) if what else None, JSON)
        self.curated[answer.status] += 1
        return answer

    def curator(self):
        r = random.Random(self.name)
        while not self.over.is_set():
            try:
                ids = [c['id'] for c in self.curate(r, 'GET', '/v1/clusters').json.get('items', [])]
                what = r.random()
                if what < 0.3 and len(ids) > 2:
                    into, *others = r.sample(ids, min(len(ids), r.randint(2, 3)))
                    self.curate(r, 'POST', '/v1/clusters/merge', {'into': into, 'from': others})
                elif what < 0.5:
                    rules = self.curate(r, 'GET', '/v1/clusters/rules').json.get('items', [])
                    if rules:
                        self.curate(r, 'DELETE', '/v1/clusters/rules/%d' % r.choice(rules)['id'])
                elif what < 0.7:
                    self.curate(r, 'POST', '/v1/admin/recluster')
                elif what < 0.8 and ids:
                    self.curate(r, 'PATCH', '/v1/clusters/%d' % r.choice(ids),
                                {'state': r.choice(['resolved', 'ignored', 'open'])})
                else:
                    self.curate(r, 'GET', r.choice(['/v1/flamegraph?bundle_id=' + APP, '/v1/stats',
                                                    '/v1/breakdown?by=day&bundle_id=' + APP]))
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass
            self.over.wait(0.03)

    def piecemeal(self):
        r = random.Random(self.name)
        while not self.over.is_set():
            data = DEMO.read_bytes() + b'%f' % r.random()
            try:
                opened = self.daemon.request('POST', '/v1/symbols/uploads', json.dumps(
                    {'size': len(data), 'sha256': hashlib.sha256(data).hexdigest()}), JSON)
                at = 0
                while opened.status == 201 and at < len(data) and not self.over.is_set():
                    n = r.randint(1, 2000)
                    answer = self.daemon.request('PUT', '/v1/symbols/uploads/%s?offset=%d' % (
                        opened.json['upload_id'], at), data[at:at + n],
                        {'Content-Type': 'application/octet-stream'})
                    if answer.status not in (200, 202):
                        break
                    at += n
            except (OSError, http.client.HTTPException):
                pass
            self.over.wait(0.1)


def ready(d):
    try:
        return d.request('GET', '/readyz', token=False).status == 200
    except (OSError, http.client.HTTPException):
        return False


def readiness(d):
    return d.request('GET', '/readyz', token=False)


# An app's row of all its reports is a stack, too.
SUMS = {
    'reports of a stack': """SELECT count(*) FROM stacks s WHERE s.count <>
        CASE WHEN s.id IN (SELECT total_id FROM apps)
        THEN (SELECT count(*) FROM reports r JOIN stacks o ON o.id = r.stack_id WHERE o.app_id = s.app_id)
        ELSE (SELECT count(*) FROM reports r WHERE r.stack_id = s.id) END""",
    'counters of a stack': """SELECT count(*) FROM stacks s LEFT JOIN
        (SELECT stack_id, sum(count) n, sum(weighted) w, sum(stall_ms) m FROM counters GROUP BY 1) c
        ON c.stack_id = s.id WHERE (s.count, s.weighted, s.stall_ms) IS NOT
        (coalesce(c.n, 0), coalesce(c.w, 0), coalesce(c.m, 0))""",
    'devices of a stack': """SELECT count(*) FROM stacks s WHERE s.count IS NOT
        (SELECT coalesce(sum(count), 0) FROM week_devices w WHERE w.stack_id = s.id)""",
    'pages of a stack': """SELECT count(*) FROM stacks s WHERE s.count IS NOT
        (SELECT coalesce(sum(count), 0) FROM week_pages w WHERE w.stack_id = s.id)""",
    'stacks of a cluster': """SELECT count(*) FROM cluster_totals t LEFT JOIN
        (SELECT cluster_id, sum(count) n, sum(weighted) w, sum(stall_ms) m FROM stacks GROUP BY 1) s
        ON s.cluster_id = t.cluster_id WHERE (t.count, t.weighted, t.stall_ms) IS NOT
        (coalesce(s.n, 0), coalesce(s.w, 0), coalesce(s.m, 0))""",
    'ids of reports': """SELECT (SELECT count(*) FROM
        (SELECT day, hash FROM report_ids UNION SELECT day, hash FROM new_ids)) - (SELECT count(*) FROM reports)""",
    'an id twice': """SELECT count(*) - count(DISTINCT client_id) FROM reports""",
}


def check_file(d, expired=False):
    """The closed database: whole, and every sum equal. `expired`: raw reports may be gone."""
    base = sqlite3.connect(d.folder / 'data/stallsym.db')
    try:
        assert base.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
        assert base.execute('PRAGMA foreign_key_check').fetchall() == []
        assert base.execute('SELECT id FROM stacks WHERE cluster_id IS NOT NULL '
                            'AND cluster_id NOT IN (SELECT id FROM clusters)').fetchall() == []
        for name, query in SUMS.items():
            if expired and name in ('reports of a stack', 'ids of reports'):
                continue
            wrong = base.execute(query).fetchone()[0]
            assert wrong == 0, 'sums differ: %s (%d)' % (name, wrong)
    finally:
        base.close()


def post_all(d, reports):
    accepted = duplicates = 0
    for at in range(0, len(reports), 500):
        answer = d.post_reports(body(reports[at:at + 500]), status=202).json
        assert not answer['rejected'], answer
        accepted += answer['accepted']
        duplicates += answer['duplicates']
    return accepted, duplicates


def check_all(d, loads, allowed=(503,), stop=True):
    """The fault is over: the daemon comes back by itself, holds what it answered for once, and its
    sums agree, through REST and in its file. Returns a line for the table."""
    wait_for(lambda: ready(d), 60, 'not ready again')
    sent, answered, uploads = {}, set(), []
    for load in loads:
        sent.update(load.sent)
        answered |= load.answered
        uploads += load.uploads
        assert set(load.refused) <= set(allowed), load.refused
        assert set(load.curated) <= {200, 202, 204, 404, 409, 422} | set(allowed), load.curated
    again = post_all(d, [sent[id] for id in sorted(answered)])
    assert again == (0, len(answered)), 'answered reports are lost: %r of %d' % (again, len(answered))
    stored = d.get('/v1/stats')['reports']
    assert len(answered) <= stored <= len(sent), (len(answered), stored, len(sent))
    again = post_all(d, list(sent.values()))
    assert again == (len(sent) - stored, stored), (again, len(sent), stored)
    wait_for(lambda: d.get('/v1/stats')['uploads_waiting'] == 0, 60, 'uploads wait for ever')
    for id in uploads:
        state = d.get('/v1/symbols/uploads/%s' % id)
        assert state['state'] == 'indexed', state
    wait_for(lambda: d.get('/v1/admin/recluster')['open'] == 0, 60, 're-clustering does not end')
    check_sums(d, sum(not has_stack(one) for one in sent.values()))
    if stop:
        assert d.stop() == 0
        check_file(d)
        kept = open_pieces(d)
        left = [p for p in left_behind(d) if p.split('/')[-1] not in kept]
        assert left == [], left
    return '%d sent, %d answered, %d uploads' % (len(sent), len(answered), len(uploads))


def open_pieces(d):
    base = sqlite3.connect(d.folder / 'data/stallsym.db')
    try:
        return {row[0] for row in base.execute('SELECT spool_file FROM open_uploads')}
    finally:
        base.close()
