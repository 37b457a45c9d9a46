"""Random but repeatable reports of one app, clients that send them, and what must hold afterwards."""
import collections, http.client, pathlib, random, sqlite3, threading, time

DEMO = pathlib.Path(__file__).parent.parent / 'demo/Shop.dSYM.zip'
APP = 'com.example.shop'
SHOP = '4C4C4482-5555-3144-A198-B50014676C20'  # the demo's
GONE = '11111111-2222-3333-4444-555555555555'  # never has symbols
IMAGES = [{'uuid': SHOP, 'name': 'Shop', 'load_address': '0x100000000', 'size': '0x100000',
           'path': '/private/var/containers/Bundle/Application/1/Shop.app/Shop'},
          {'uuid': GONE, 'name': 'Ads', 'load_address': '0x200000000', 'size': '0x100000',
           'path': '/private/var/containers/Bundle/Application/1/Shop.app/Frameworks/Ads'}]


def address(r):
    if r.random() < 0.85:
        return hex(0x100004000 + 4 * r.randrange(110))
    return hex(0x200000000 + 0x40 * r.randrange(20)) if r.random() < 0.8 else '0x10'


def report(id):
    """The same for the same id."""
    r = random.Random(id)
    one = {'id': id, 'kind': r.choice(['stall', 'hang', 'slight_stall']),
           'duration_ms': r.randint(100, 9000), 'page': 'Page%d' % r.randrange(5),
           'app_version': '1.%d' % r.randrange(3), 'build': str(r.randrange(4)),
           'device': 'iPhone%d' % r.randrange(6), 'os_version': '16.%d' % r.randrange(3)}
    kind = r.random()
    if kind < 0.1:
        one['stack_skipped'] = 'cpu_high'
    elif kind < 0.25:
        one['samples'] = [{'offset_ms': 100 * i, 'stack': [address(r) for _ in range(3)]}
                          for i in range(3)]
    else:
        one['stack'] = [address(r) for _ in range(r.randint(0, 6))]
    return one


def has_stack(one):
    return bool(one.get('stack') or one.get('samples'))


def body(reports):
    return {'app': {'bundle_id': APP}, 'images': IMAGES, 'reports': reports}


class Traffic:
    """Clients that send reports, upload and delete symbols until told to stop."""

    def __init__(self, daemon, name, clients=3):
        self.daemon, self.name = daemon, name
        self.sent, self.answered, self.uploads = {}, set(), []
        self.refused = collections.Counter()
        self.lock, self.over = threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self.client, args=(i,), daemon=True)
                        for i in range(clients)]
        self.threads.append(threading.Thread(target=self.uploader, daemon=True))
        for thread in self.threads:
            thread.start()

    def client(self, number):
        round = 0
        while not self.over.is_set():
            reports = [report('%s-%d-%d-%d' % (self.name, number, round, i)) for i in range(8)]
            round += 1
            with self.lock:
                self.sent.update((r['id'], r) for r in reports)
            try:
                answer = self.daemon.post_reports(body(reports))
            except (OSError, http.client.HTTPException):
                time.sleep(0.003)
                continue
            if answer.status == 202:
                assert answer.json['accepted'] == 8, answer
                with self.lock:
                    self.answered.update(r['id'] for r in reports)
            else:
                self.refused[answer.status] += 1
                time.sleep(0.005)

    def uploader(self):
        r = random.Random(self.name)
        data = DEMO.read_bytes()
        while not self.over.is_set():
            try:
                what = r.random()
                sent = what < 0.6
                if sent:
                    # Other bytes, the same object: else it would be known from its SHA-256.
                    more = data + b'%f' % r.random() if what < 0.3 else data
                    answer = self.daemon.request('POST', '/v1/symbols', more)
                elif what < 0.85:
                    answer = self.daemon.request('DELETE', '/v1/symbols/' + SHOP)
                else:
                    answer = self.daemon.request('GET', '/v1/symbols/%s/file' % SHOP)
            except (OSError, http.client.HTTPException):
                time.sleep(0.003)
                continue
            if sent and answer.status == 202:
                self.uploads.append(answer.json['upload_id'])
            elif answer.status not in (200, 202, 204, 404):
                self.refused[answer.status] += 1

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def clusters(daemon):
    items = daemon.all_items('/v1/clusters?include_hidden=1')
    return sorted((c['title'], c['function'] or '', c['file'] or '', c['category'], c['count'],
                   c['stack_count'], c['stall_seconds']) for c in items)


def check_sums(daemon, stackless):
    """Clusters and reports without a stack make up all reports; breakdowns add up to what they
    break down."""
    stats = daemon.settle(60)
    items = daemon.all_items('/v1/clusters?include_hidden=1')
    total = sum(c['count'] for c in items)
    assert total + stackless == stats['reports'], (total, stackless, stats['reports'])
    rows = daemon.get('/v1/breakdown?limit=1000&bundle_id=%s&by=version,device' % APP)['items']
    assert sum(x['count'] for x in rows) == stats['reports'], (rows, stats['reports'])
    for by in ('version', 'build', 'device', 'os_version', 'page', 'day'):
        rows = daemon.get('/v1/breakdown?limit=1000&bundle_id=%s&by=%s' % (APP, by))['items']
        assert sum(x['count'] for x in rows) == stats['reports'], (by, rows, stats['reports'])
        for c in random.sample(items, min(4, len(items))):
            path = '/v1/clusters/%d/breakdown?limit=1000&by=%s' % (c['id'], by)
            assert sum(x['count'] for x in daemon.get(path)['items']) == c['count'], (path, c)
    for c in random.sample(items, min(4, len(items))):
        listed = daemon.all_items('/v1/clusters/%d/reports' % c['id'])
        assert len(listed) == c['count'], (c, len(listed))


def check_database(daemon):
    """While it is down."""
    base = sqlite3.connect(daemon.folder / 'data/stallsym.db')
    try:
        assert base.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
        assert base.execute('PRAGMA foreign_key_check').fetchall() == []
        assert base.execute('SELECT id FROM stacks WHERE cluster_id IS NOT NULL '
                            'AND cluster_id NOT IN (SELECT id FROM clusters)').fetchall() == []
    finally:
        base.close()


def left_behind(daemon):
    return [str(p) for p in (daemon.folder / 'data').rglob('*') if p.is_file() and
            ('spool' in p.parts or 'work' in p.parts)]
