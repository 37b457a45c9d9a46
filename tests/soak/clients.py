"""Clients of a daemon that lives for long: everything that people and devices do with it, at a
moderate rate. Each client is a thread with a random generator of its own; what may not be answered
is remembered in `wrong`, and judged by soak.py."""
import collections, gzip, hashlib, http.client, http.server, json, random, threading, time
from traffic import APP, DEMO, GONE, IMAGES, SHOP, body, report

JSON = {'Content-Type': 'application/json'}
# Of a GET's path by its last fixed part: what its query may say. `{version}` and the like are filled.
QUERIES = {
    '/v1/clusters': ['', 'bundle_id=' + APP, 'q=load', 'sort=stall_ms', 'include_hidden=1',
                     'version=1.1&device=iPhone3', 'page=Page2&kind=hang', 'state=resolved'],
    '/v1/breakdown': ['by=%s&bundle_id=%s' % (by, APP) for by in
                      ('day', 'version', 'device', 'page', 'version,device', 'page,day')],
    '/v1/clusters/{id}/breakdown': ['by=version', 'by=day', 'by=device,os_version'],
    '/v1/clusters/{id}/reports': ['', 'limit=5', 'deadlock=1'],
    '/v1/trends': ['bundle_id=%s%s' % (APP, more) for more in
                   ('', '&by=hour', '&by=week', '&group=version', '&group=category&groups=3')],
    '/v1/compare': ['bundle_id=%s&version=1.0&compare_version=1.1' % APP],
    '/v1/flamegraph': ['bundle_id=%s&%s' % (APP, more) for more in
                       ('', 'format=svg', 'format=folded&weight=time', 'format=speedscope',
                        'version=1.0&compare_version=1.2', 'page=Page1&kind=stall')],
    '/v1/symbols/protected': ['bundle_id=' + APP],
    '/v1/apps/{bundle_id}/config': ['', 'version=1.1&device=iPhone8,4&client=7'],
}
CONFIG = {'note': 'less', 'defaults': {'slight_sample_rate': 0.05}, 'rules': [
    {'name': 'beta', 'if': {'version': '>=1.1', 'percentage': 50}, 'set': {'sample_interval_ms': 20}},
    {'name': 'old', 'if': {'device_class': 'low'}, 'set': {'sample_rate': 0.2}}]}
CRASH = """Process:               Shop [7]

Thread 0 Crashed:
0   Shop                          \t       0x1004f8084 0x1004f4000 + 16516
1   Shop                          \t       0x1004f813c 0x1004f4000 + 16700

Binary Images:
       0x1004f4000 -        0x1004fbfff Shop arm64  <%s> /x/Shop.app/Shop
""" % SHOP.replace('-', '').lower()


class Webhook(http.server.ThreadingHTTPServer):
    """Takes alerts; every fourth is refused, so that it comes again."""
    daemon_threads = True

    def __init__(self):
        server = self
        self.taken = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers['Content-Length']))
                server.taken += 1
                self.send_response(503 if server.taken % 4 == 0 else 200)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *more):
                pass
        super().__init__(('127.0.0.1', 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Clients:
    def __init__(self, daemon, pace):
        """`pace`: 1 is what one core of a small machine hardly notices."""
        self.daemon, self.pace = daemon, pace
        self.answers, self.wrong = collections.Counter(), collections.Counter()
        self.last_id, self.clusters, self.upload, self.known = None, [], None, 0
        self.refused = 0  # 503, 429: allowed now and then
        self.over, self.threads = threading.Event(), []
        self.webhook = Webhook()
        self.routes = [path for path, what in daemon.get('/openapi.json')['paths'].items()
                       if 'get' in what]
        for run, seconds in ((self.devices, 0.2), (self.devices, 0.3), (self.lines, 0.5),
                             (self.usage, 1), (self.readers, 0.15), (self.texts, 2),
                             (self.symbols, 2), (self.pieces, 5), (self.curator, 3),
                             (self.operator, 5), (self.breaker, 2)):
            name = '%s-%d' % (run.__name__, len(self.threads))
            self.threads.append(threading.Thread(target=self.repeat, args=(run, seconds, name)))
            self.threads[-1].start()

    def repeat(self, run, seconds, name):
        r, round = random.Random(name), 0
        while not self.over.wait(r.expovariate(self.pace / seconds)):
            try:
                run(r, '%s-%d' % (name, round), round)
            except Exception as e: # a client that has ended would go unseen
                self.wrong['%s: %r' % (run.__name__, e)] += 1
            round += 1

    def ask(self, method, path, what=None, allowed=(), headers=JSON):
        data = what if what is None or isinstance(what, bytes) else json.dumps(what).encode()
        answer = self.daemon.request(method, path, data, headers)
        self.answers[answer.status] += 1
        if answer.status in (429, 503):
            self.refused += 1
        elif answer.status not in (200, 201, 202, 204) + tuple(allowed):
            self.wrong['%s %s: %r' % (method, path, answer)] += 1
        return answer

    # --- devices

    def some_reports(self, r, name):
        """Most have a stack that was seen before. Others have one that was never seen, of known
        frames and a known cause: it goes with its last report, while a cause stays for ever."""
        out = []
        for i in range(r.randint(1, 12)):
            what = r.random()
            one = report('known-%d' % r.randrange(300))
            if what > 0.98:
                one['stack'] = [hex(0x100004000 + 4 * r.randrange(110))] + [
                    hex(0x200000000 + 0x40 * r.randrange(200)) for _ in range(6)]
            one['id'] = '%s-%d' % (name, i)
            out.append(one)
        return out

    def devices(self, r, name, round):
        reports = self.some_reports(r, name)
        answer = self.ask('POST', '/v1/reports', body(reports))
        if answer.status == 202:
            self.last_id = reports[0]['id']
            if r.random() < 0.1: # a client that has not seen the answer
                again = self.ask('POST', '/v1/reports', body(reports))
                if again.status == 202 and again.json['duplicates'] != len(reports):
                    self.wrong['a retry counted: %r' % again] += 1

    def lines(self, r, name, round):
        """NDJSON, zipped, with a damaged line."""
        text = ''.join(json.dumps({**one, 'bundle_id': APP, 'images': IMAGES}) + '\n'
                       for one in self.some_reports(r, name))
        self.ask('POST', '/v1/reports', gzip.compress((text + '{"id": \n').encode()), (),
                 {'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'gzip'})

    def usage(self, r, name, round):
        self.ask('POST', '/v1/usage', {
            'id': name, 'app': {'bundle_id': APP, 'version': '1.%d' % r.randrange(3), 'build': '1'},
            'device': {'model': 'iPhone%d' % r.randrange(6), 'os_version': '16.1'},
            'items': [{'page': 'Page%d' % r.randrange(5), 'foreground_ms': 90000, 'launches': 1}]})

    def breaker(self, r, name, round):
        """What is refused, and who leaves in the middle."""
        what = round % 4
        if what == 0:
            self.ask('POST', '/v1/reports', b'{"app": [', (400,))
        elif what == 1:
            self.ask('GET', '/v1/clusters?limit=-1&%s=2' % ('x' * 200), None, (400,))
        elif what == 2:
            self.ask('GET', '/v1/stats', None, (401,), {'Authorization': 'Bearer ' + name})
        else:
            one = http.client.HTTPConnection('127.0.0.1', self.daemon.port, timeout=10)
            one.putrequest('POST', '/v1/symbols')
            one.putheader('Authorization', 'Bearer ' + self.daemon.token)
            one.putheader('Content-Length', '100000')
            one.endheaders()
            one.send(b'half')
            one.close()

    # --- people

    def readers(self, r, name, round):
        route = self.routes[round % len(self.routes)]
        cluster = r.choice(self.clusters) if self.clusters else 1
        path = route.format(bundle_id=APP, uuid=r.choice([SHOP, GONE]), revision=1, id={
            'reports': self.last_id or 'x', 'uploads': self.upload or 'x'}.get(
                route.split('/{')[0].split('/')[-1], cluster))
        query = r.choice(QUERIES.get(route, ['']))
        if '/uploads/{id}' in route and not self.upload:
            return
        answer = self.ask('GET', path + ('?' + query if query else ''), None, (404,))
        if route == '/v1/clusters' and answer.status == 200:
            self.clusters = [c['id'] for c in answer.json['items']] or self.clusters

    def texts(self, r, name, round):
        if round % 2:
            answer = self.ask('POST', '/v1/symbolicate', CRASH.encode(), (),
                              {'Content-Type': 'text/plain'})
        else:
            answer = self.ask('POST', '/v1/symbolicate',
                              {'images': IMAGES, 'stacks': [['0x100004084', '0x10000413c']]})
        self.known += answer.status == 200 and b'step_rows' in answer.body

    def curator(self, r, name, round):
        what = r.random()
        if what < 0.35 and len(self.clusters) > 2:
            into, *others = r.sample(self.clusters, 2)
            self.ask('POST', '/v1/clusters/merge', {'into': into, 'from': others}, (404, 409, 422))
        elif what < 0.6:
            rules = self.ask('GET', '/v1/clusters/rules').json.get('items', [])
            if rules:
                self.ask('DELETE', '/v1/clusters/rules/%d' % r.choice(rules)['id'], None, (404, 409))
        elif what < 0.7 and self.clusters:
            self.ask('POST', '/v1/clusters/%d/split' % r.choice(self.clusters), {'depth': 2},
                     (404, 409, 422))
        elif self.clusters:
            self.ask('PATCH', '/v1/clusters/%d' % r.choice(self.clusters),
                     {'state': r.choice(['resolved', 'ignored', 'open']), 'note': name}, (404, 409))

    # --- build machines

    def symbols(self, r, name, round):
        """Comes, is used, goes: later reports wait for it again."""
        what, headers = r.random(), {'Content-Type': 'application/octet-stream'}
        if what < 0.6: # other bytes, the same object: else it would be known from its SHA-256
            answer = self.ask('POST', '/v1/symbols?wait=1', DEMO.read_bytes() + name.encode(), (),
                              headers)
            if answer.status in (200, 202):
                self.upload = answer.json['upload_id']
        elif what < 0.7:
            self.ask('POST', '/v1/symbols?wait=1', b'no symbols ' + name.encode(), (400, 415, 422),
                     headers)
        elif what < 0.8:
            self.ask('POST', '/v1/symbols/check', {'uuids': [SHOP, GONE]})
        elif what < 0.9:
            self.ask('PUT', '/v1/symbols/%s/stand-in' % GONE, {'uuid': SHOP}, (404, 409))
            self.ask('DELETE', '/v1/symbols/%s/stand-in' % GONE, None, (404,))
        else:
            self.ask('DELETE', '/v1/symbols/' + SHOP, None, (404,))

    def pieces(self, r, name, round):
        data = DEMO.read_bytes() + name.encode()
        opened = self.ask('POST', '/v1/symbols/uploads', {
            'size': len(data), 'sha256': hashlib.sha256(data).hexdigest()})
        at, end = 0, len(data) if round % 4 else len(data) // 2 # some are given up
        while opened.status == 201 and at < end:
            n = r.randint(1000, 20000)
            self.ask('PUT', '/v1/symbols/uploads/%s?offset=%d' % (opened.json['upload_id'], at),
                     data[at:at + n], (), {'Content-Type': 'application/octet-stream'})
            at += n
        if opened.status == 201 and end < len(data):
            self.ask('DELETE', '/v1/symbols/uploads/' + opened.json['upload_id'], None,
                     (404, 409)) # became whole, a piece having reached its end

    def operator(self, r, name, round):
        config = '/v1/apps/%s/config' % APP
        what = round % 8
        if what == 7:
            self.ask('POST', '/v1/admin/recluster')
        elif what == 1:
            self.ask('POST', '/v1/admin/backup', None, (409,))
        elif what == 2:
            self.ask('PUT', config, {**CONFIG, 'note': name})
        elif what == 3:
            self.ask('POST', config + '/rollback', {'revision': 1})
        elif what == 4:
            made = self.ask('POST', '/v1/admin/tokens', {'name': name, 'scopes': ['read']})
            if made.status == 201:
                self.ask('DELETE', '/v1/admin/tokens/%s' % made.json['id'])
        elif what == 5:
            self.ask('PUT', '/v1/apps/%s/quota' % APP, {'reports_per_minute': 100000})
            self.ask('DELETE', '/v1/apps/%s/quota' % APP)
        elif what == 6:
            self.ask('PUT', '/v1/symbols/protected?bundle_id=%s&version=1.1&build=1' % APP)
            self.ask('DELETE', '/v1/symbols/protected?bundle_id=%s&version=1.1&build=1' % APP)
        else: # first of all
            url = 'http://127.0.0.1:%d/hook' % self.webhook.server_port
            self.ask('PUT', '/v1/alerts', {
                'targets': [{'name': 'oncall', 'kind': 'webhook', 'url': url, 'secret': 's' * 20}],
                'rules': [{'to': ['oncall']}]})
            self.ask('POST', '/v1/alerts/test', {})

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        self.webhook.shutdown()
