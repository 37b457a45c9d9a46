#!/usr/bin/env python3
"""Alerts, from reports to webhooks: each kind once, to the owner or the rule's target; receivers that
fail, hang, answer nonsense; kill -9 between evaluation and delivery; signatures checked here.

Covers: server/jobs/alerts.c server/jobs/notifier.c server/http/api_alerts.c
server/jobs/alert_rules.c server/jobs/alert_body.c"""
import base64, hashlib, hmac, http.server, json, signal, sqlite3, tempfile, threading, time, urllib.parse
from daemon import Daemon

APP = 'com.example.shop'
UUID = '0285884D-3DE9-3051-B23A-63B48BF99F35'
FAST = {'STALLSYM_ALERTS_INTERVAL_MS': '100', 'STALLSYM_ALERTS_RETRY_MS': '100',
        'STALLSYM_ALERTS_RETRY_MAX_MS': '300', 'STALLSYM_ALERTS_TIMEOUT_MS': '500',
        'STALLSYM_RETENTION_INTERVAL_MS': '50', 'STALLSYM_ALERTS_ALLOW_PRIVATE': 'yes',
        'STALLSYM_ALERTS_PUBLIC_URL': 'https://stalls.example.com/',
        # Proxies of the environment are not asked.
        'http_proxy': 'http://127.0.0.1:9', 'all_proxy': 'http://127.0.0.1:9'}


class Receiver:
    """Takes what is posted; `plan` says how each path answers: a list of statuses, the last one
    stays; 'hang' answers nothing, 'huge' much, 'redirect' elsewhere."""

    def __init__(self):
        self.got, self.plan, self.lock = [], {}, threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                path = urllib.parse.urlsplit(self.path).path
                with receiver.lock:
                    plan = receiver.plan.get(path, [200])
                    answer = plan.pop(0) if len(plan) > 1 else plan[0]
                    receiver.got.append((self.path, dict(self.headers), body, answer))
                if answer == 'hang':
                    time.sleep(2)
                    return
                status, text = (200, b'x' * 200000) if answer == 'huge' else \
                    (302, b'') if answer == 'redirect' else \
                    answer if isinstance(answer, tuple) else (answer, b'{"code":0,"errcode":0}')
                try:
                    self.send_response(status)
                    if status == 302:
                        self.send_header('Location', '/elsewhere')
                    self.send_header('Content-Length', str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.url = 'http://127.0.0.1:%d' % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def taken(self, path=None):
        """What was answered well."""
        with self.lock:
            return [(p, h, b) for p, h, b, answer in self.got
                    if (path is None or p.split('?')[0] == path) and answer in (200, 'huge')]

    def tries(self, path):
        with self.lock:
            return [g for g in self.got if g[0].split('?')[0] == path]


def wait_for(what, seconds=15, why=''):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.02)


def call(d, method, path, body, status=200):
    answer = d.request(method, path, json.dumps(body), {'Content-Type': 'application/json'})
    assert answer.status == status, answer
    return answer.json


def kinds(taken):
    return sorted(json.loads(b)['kind'] for _, _, b in taken)


def rules(receiver, **more):
    return {'targets': [{'name': 'all', 'url': receiver.url + '/all', 'secret': 's3cret'}],
            'rules': [{'to': ['all'], **more}]}


def each_kind_once():
    receiver = Receiver()
    with Daemon(env=FAST) as d:
        put = call(d, 'PUT', '/v1/alerts', rules(receiver, min_reports=5))
        assert put['revision'] == 1 and put['targets'][0]['secret'] == '***', put
        assert put['targets'][0]['url'] == receiver.url + '/***', put
        assert 's3cret' not in json.dumps(d.get('/v1/alerts'))
        # What GET shows can be put again; the secret is still there.
        put['rules'][0]['min_reports'] = 6
        assert call(d, 'PUT', '/v1/alerts', put)['revision'] == 2
        call(d, 'PUT', '/v1/alerts', {'revision': 1, 'targets': [], 'rules': []}, 409)

        # Reports without symbols: provisional, so no new cluster; their UUID is missing.
        for i in range(8):
            post_shop(d, UUID, 'early%d' % i, 0x4000)
        d.settle()
        wait_for(lambda: kinds(receiver.taken()) == ['missing_symbols'], why=receiver.got)
        body = json.loads(receiver.taken()[0][2])
        assert body['missing']['uuid'] == UUID and body['missing']['reports'] >= 6, body

        # A signature of the webhook.
        path, headers, raw = receiver.taken()[0]
        mac = hmac.new(b's3cret', headers['X-Stallsym-Timestamp'].encode() + b'.' + raw,
                       hashlib.sha256).hexdigest()
        assert headers['X-Stallsym-Signature'] == 'sha256=' + mac, headers
        assert abs(int(headers['X-Stallsym-Timestamp']) - time.time()) < 60
        assert headers['X-Stallsym-Event'] == 'missing_symbols' and body['version'] == 1

        # The dSYM comes: clusters with names, which are new.
        uuid, offset = upload_shop(d)
        now = int(time.time() * 1000)
        ago = now - 5 * 3600000 # may be yesterday: then today's rate has fallen already
        for i in range(5):
            post_shop(d, uuid, 'n%d' % i, offset, at=ago)
        d.settle()
        time.sleep(0.5)
        told = set(kinds(receiver.taken())) - {'symbolication_rate'}
        assert told == {'missing_symbols'}, told
        post_shop(d, uuid, 'n5', offset, at=ago)
        wait_for(lambda: 'new_cluster' in kinds(receiver.taken()), why=receiver.got)
        body = [json.loads(b) for _, _, b in receiver.taken() if b'new_cluster' in b][0]
        cluster = body['cluster']['id']
        assert body['cluster']['count'] == 6 and body['bundle_id'] == APP, body
        assert body['link'] == 'https://stalls.example.com/v1/clusters/%d' % cluster, body

        # A regression.
        call(d, 'PATCH', '/v1/clusters/%d' % cluster, {'state': 'resolved', 'resolved_in': '7.3'})
        post_shop(d, uuid, 'old', offset, '7.3', ago)
        post_shop(d, uuid, 'back', offset, '7.4', ago)
        wait_for(lambda: 'regression' in kinds(receiver.taken()), why=receiver.got)
        body = [json.loads(b) for _, _, b in receiver.taken() if b'"regression"' in b][0]
        assert body['regression'] == {'version': '7.4', 'build': '1', 'resolved_in': '7.3',
                                      'resolved_in_build': None}, body

        # A spike: two an hour for three days, then five times that within minutes.
        for hour in range(2, 75):
            for i in range(2):
                post_shop(d, uuid, 'h%d-%d' % (hour, i), offset, at=now - hour * 3600000 + i * 997000)
        time.sleep(0.5)
        assert 'spike' not in kinds(receiver.taken())
        for i in range(10):
            post_shop(d, uuid, 's%d' % i, offset, at=now - i * 50000)
        wait_for(lambda: 'spike' in kinds(receiver.taken()), why=receiver.got)
        body = [json.loads(b) for _, _, b in receiver.taken() if b'"spike"' in b][0]
        assert body['spike']['count'] >= 6 and body['spike']['factor'] > 3, body

        # Half of today's frames wait for the first UUID; before they had names. It is told as soon as
        # the rate has fallen by 0.1, with more reports on their way.
        wait_for(lambda: 'symbolication_rate' in kinds(receiver.taken()), why=receiver.got)
        body = [json.loads(b) for _, _, b in receiver.taken() if b'"symbolication_rate"' in b][0]
        assert body['symbolication']['before'] == 1 and body['symbolication']['rate'] <= 0.9, body

        # Nothing is told twice, over restarts too; ignored ones stay quiet.
        call(d, 'PATCH', '/v1/clusters/%d' % cluster, {'state': 'ignored'})
        d.restart()
        post_shop(d, uuid, 'more', offset, '9.0')
        time.sleep(1)
        assert kinds(receiver.taken()) == ['missing_symbols', 'new_cluster', 'regression', 'spike',
                                           'symbolication_rate'], kinds(receiver.taken())
        deliveries = d.get('/v1/alerts/deliveries?state=sent&bundle_id=' + APP)['items']
        assert len(deliveries) == 5 and all(x['attempts'] == 1 for x in deliveries), deliveries
        metrics = d.request('GET', '/metrics').body.decode()
        assert 'stallsym_alerts_pending 0' in metrics, metrics


def upload_shop(d):
    d.upload('tests/demo/Shop.dSYM.zip', 'bundle_id=%s&wait=1' % APP, 200)
    return d.get('/v1/symbols')['items'][0]['uuid'], 0x4083


def post_shop(d, uuid, name, offset, version='7.2.1', at=None):
    d.post_reports({'app': {'bundle_id': APP, 'version': version, 'build': '1'},
                    'device': {'model': 'iPhone14,7', 'os_version': '16.6', 'arch': 'arm64'},
                    'images': [{'uuid': uuid, 'name': 'Shop', 'load_address': '0x100000000'}],
                    'reports': [{'id': name, 'kind': 'stall', 'duration_ms': 900,
                                 'timestamp': at or int(time.time() * 1000),
                                 'stack': [{'uuid': uuid, 'offset': hex(offset)}]}]}, status=202)


def receivers_in_trouble():
    receiver = Receiver()
    receiver.plan = {'/failing': [500, 503, 200], '/hanging': ['hang', 200], '/huge': ['huge'],
                     '/away': ['redirect'], '/gone': [410], '/elsewhere': [200],
                     '/feishu': [(200, b'{"code":19021,"msg":"sign match fail"}'), 200],
                     '/ding': [(200, b'{"errcode":310000,"errmsg":"sign not match"}'), 200]}
    names = ['failing', 'hanging', 'huge', 'away', 'gone']
    targets = [{'name': n, 'url': receiver.url + '/' + n} for n in names]
    targets += [{'name': 'slack', 'kind': 'slack', 'url': receiver.url + '/slack?a=1'},
                {'name': 'feishu', 'kind': 'feishu', 'url': receiver.url + '/feishu', 'secret': 'fei'},
                {'name': 'ding', 'kind': 'dingtalk', 'url': receiver.url + '/ding?access_token=x',
                 'secret': 'SECding'}]
    with Daemon(env=FAST) as d:
        call(d, 'PUT', '/v1/alerts', {'targets': targets, 'rules': []})
        alert = call(d, 'POST', '/v1/alerts/test', {}, 202)['alert_id']
        deliveries = lambda: {x['target']: x for x in
                              d.get('/v1/alerts/deliveries?alert_id=%d' % alert)['items']}
        wait_for(lambda: all(deliveries()[n]['state'] == 'sent' for n in
                             ('failing', 'hanging', 'huge', 'slack', 'feishu', 'ding')) and
                 deliveries()['gone']['state'] == 'failed', why=deliveries())
        got = deliveries()
        assert got['failing']['attempts'] == 3 and got['hanging']['attempts'] == 2, got
        assert got['huge']['attempts'] == 1 and got['gone']['status'] == 410, got
        assert len(receiver.taken('/failing')) == 1 and len(receiver.taken('/hanging')) == 1
        # A redirect is not followed; it is a failure that will be tried again.
        assert got['away']['state'] == 'pending' and got['away']['status'] == 302, got
        assert not receiver.tries('/elsewhere')
        # One delivery has one number, however often it is tried.
        assert len({h['X-Stallsym-Delivery'] for _, h, _, _ in receiver.tries('/failing')}) == 1

        body = json.loads(receiver.taken('/slack')[0][2])
        assert 'test' in body['text'], body
        body = json.loads(receiver.taken('/feishu')[0][2])
        key = '%s\n%s' % (body['timestamp'], 'fei')
        sign = base64.b64encode(hmac.new(key.encode(), digestmod=hashlib.sha256).digest()).decode()
        assert body['sign'] == sign and body['msg_type'] == 'text', body
        path, _, raw = receiver.taken('/ding')[0]
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
        text = '%s\n%s' % (query['timestamp'][0], 'SECding')
        sign = base64.b64encode(hmac.new(b'SECding', text.encode(), hashlib.sha256).digest()).decode()
        assert query['sign'] == [sign] and query['access_token'] == ['x'], path
        assert json.loads(raw)['msgtype'] == 'markdown', raw

        # A target that is taken away: what waits for it is given up.
        call(d, 'PUT', '/v1/alerts', {'targets': [t for t in targets if t['name'] != 'away'],
                                     'rules': []})
        wait_for(lambda: deliveries()['away']['state'] == 'failed', why=deliveries())
        call(d, 'POST', '/v1/alerts/test', {'target': 'away'}, 404)
        assert d.request('POST', '/v1/alerts/test').status == 202 # no body: all targets


def killed_in_between():
    """Evaluated, not delivered, killed: it is delivered after the restart, once."""
    receiver = Receiver()
    receiver.plan = {'/all': ['hang']}
    with Daemon(env={**FAST, 'STALLSYM_ALERTS_TIMEOUT_MS': '5000'}) as d:
        uuid, offset = upload_shop(d)
        call(d, 'PUT', '/v1/alerts', rules(receiver, alerts=['new_cluster'], min_reports=1))
        post_shop(d, uuid, 'a', offset)
        wait_for(lambda: receiver.tries('/all'), why='no attempt')
        d.stop(signal.SIGKILL)
        with receiver.lock:
            receiver.plan['/all'] = [200]
        d.start()
        wait_for(lambda: receiver.taken('/all'), why=receiver.got)
        # Killed before it is noted as sent it would go again.
        wait_for(lambda: d.get('/v1/alerts/deliveries?state=sent&bundle_id=' + APP)['items'])
        d.restart(signal.SIGKILL)
        time.sleep(0.7)
        assert len(receiver.taken('/all')) == 1, receiver.got
        # A stop does not wait for a receiver that hangs.
        with receiver.lock:
            receiver.plan['/all'] = ['hang']
        tries = len(receiver.tries('/all'))
        call(d, 'POST', '/v1/alerts/test', {'target': 'all'}, 202)
        wait_for(lambda: len(receiver.tries('/all')) > tries, why='no attempt')
        begun = time.monotonic()
        assert d.stop() == 0
        assert time.monotonic() - begun < 3


def owners_and_order():
    receiver = Receiver()
    config = {'targets': [{'name': 'team', 'url': receiver.url + '/team'},
                          {'name': 'rest', 'url': receiver.url + '/rest'}],
              'owners': {'feed-team': ['team']},
              'rules': [{'alerts': ['new_cluster'], 'bundle_id': 'com.quiet', 'mute': True},
                        {'alerts': ['new_cluster'], 'min_reports': 1, 'to': ['rest']}]}
    with tempfile.NamedTemporaryFile('w', suffix='.rules') as rules:
        rules.write(open('conf/cluster.rules').read() + '\nowner=feed-team image=Shop: step_rows\n')
        rules.flush()
        with Daemon(env={**FAST, 'STALLSYM_CLUSTERS_RULES': rules.name}) as d:
            call(d, 'PUT', '/v1/alerts', config)
            uuid, offset = upload_shop(d)
            post_shop(d, uuid, 'a', offset)
            d.settle()
            owner = d.get('/v1/clusters')['items'][0]['owner']
            assert owner == 'feed-team', owner
            wait_for(lambda: receiver.taken('/team'), why=receiver.got)
            assert json.loads(receiver.taken('/team')[0][2])['owner'] == 'feed-team'
            # Of somebody else's cluster the rule's own target hears.
            post_shop(d, uuid, 'b', 0x4003 + 0x200)
            d.settle()
            for c in d.get('/v1/clusters')['items']:
                print(c['title'], c['owner'])
            call(d, 'POST', '/v1/alerts/test', {'target': 'rest'}, 202)
            wait_for(lambda: receiver.taken('/rest'), why=receiver.got)
            assert len(receiver.taken('/team')) == 1


def private_addresses():
    receiver = Receiver()
    env = {k: v for k, v in FAST.items() if k != 'STALLSYM_ALERTS_ALLOW_PRIVATE'}
    with Daemon(env=env) as d:
        port = receiver.server.server_port
        hosts = ['127.0.0.1', '0x7f000001', '2130706433', '[::1]', '[::ffff:127.0.0.1]',
                 '0.0.0.0', '169.254.169.254', '10.0.0.1']
        for host in hosts: # literally so: at once
            call(d, 'PUT', '/v1/alerts', {'rules': [], 'targets': [
                {'name': host, 'url': 'http://%s:%d/all' % (host, port)}]}, 422)
        call(d, 'PUT', '/v1/alerts', {'rules': [], 'targets': [
            {'name': 'n', 'url': 'http://localhost:%d/all' % port}]})
        alert = call(d, 'POST', '/v1/alerts/test', {}, 202)['alert_id']
        deliveries = lambda: d.get('/v1/alerts/deliveries?alert_id=%d' % alert)['items']
        wait_for(lambda: all(x['attempts'] > 0 for x in deliveries()), why=deliveries())
        assert all(x['state'] == 'pending' and x['error'] for x in deliveries()), deliveries()
        assert not receiver.got


def what_is_refused():
    with Daemon(env=FAST) as d:
        t = {'name': 'a', 'url': 'https://example.com/x'}
        for body, status, says in [
                ([], 422, ''), ({'target': []}, 422, 'target'), ({'targets': [{}]}, 422, 'name'),
                ({'targets': [{'name': 'a', 'url': 'ftp://x/'}]}, 422, 'url'),
                ({'targets': [{'name': 'a', 'url': 'file:///etc/passwd'}]}, 422, 'url'),
                ({'targets': [{'name': 'a', 'url': 'http://u:p@example.com/'}]}, 422, 'url'),
                ({'targets': [{'name': 'a', 'url': 'http://example.com/\r\nX: y'}]}, 422, 'url'),
                ({'targets': [t, t]}, 422, 'targets[1].name'),
                ({'targets': [{**t, 'kind': 'mail'}]}, 422, 'kind'),
                ({'targets': [{**t, 'secret': '***'}]}, 422, 'secret'),
                ({'targets': [{**t, 'url': 'https://example.com/***'}]}, 422, 'url'),
                ({'targets': [t], 'rules': [{'to': ['b']}]}, 422, 'rules[0].to'),
                ({'targets': [t], 'rules': [{}]}, 422, 'rules[0].to'),
                ({'targets': [t], 'rules': [{'to': ['a'], 'alerts': ['x']}]}, 422, 'alerts[0]'),
                ({'targets': [t], 'rules': [{'to': ['a'], 'factor': 1}]}, 422, 'factor'),
                ({'targets': [t], 'rules': [{'to': ['a'], 'min_report': 1}]}, 422, 'min_report'),
                ({'targets': [t], 'owners': {'x': ['b']}}, 422, 'owners.x')]:
            if isinstance(body, dict):
                body = {'rules': [], **body}
            answer = d.request('PUT', '/v1/alerts', json.dumps(body),
                               {'Content-Type': 'application/json'})
            assert answer.status == status and says in answer.body.decode(), (body, answer)
        for body, missing in (({}, 'targets'), ({'targets': []}, 'rules'),
                              ({'targets': [{**t, 'url': 'http://example.com:65536/'}], 'rules': []},
                               'targets[0].url')):
            assert missing in json.dumps(call(d, 'PUT', '/v1/alerts', body, 422)), body
        assert d.get('/v1/alerts')['revision'] == 0
        call(d, 'POST', '/v1/alerts/test', {}, 409)
        read = call(d, 'POST', '/v1/admin/tokens', {'scopes': ['read']}, 201)['token']
        assert d.request('PUT', '/v1/alerts', '{}', {'Content-Type': 'application/json'},
                         token=read).status == 403


def stored_by_older_versions():
    """Rules that PUT would refuse today go on after an upgrade, or GET says why they do not."""
    receiver = Receiver()
    with Daemon(env=FAST) as d:
        call(d, 'PUT', '/v1/alerts', rules(receiver, alerts=['new_cluster'], min_reports=1))

        def stored(change):
            assert d.stop() == 0
            base = sqlite3.connect(next((d.folder / 'data').glob('*.db')))
            document, = base.execute('SELECT document FROM alert_rules').fetchone()
            base.execute('UPDATE alert_rules SET document = ?', (change(document),))
            base.commit()
            base.close()
            d.start()
        stored(lambda text: text.replace('"all"', '"a\\u0001ll"'))
        now = d.get('/v1/alerts')
        assert now['targets'][0]['name'] == 'a?ll' and now['rules'][0]['to'] == ['a?ll'], now
        assert 'refused' not in now
        uuid, offset = upload_shop(d)
        post_shop(d, uuid, 'a', offset)
        wait_for(lambda: receiver.taken('/all'), why=receiver.got)
        stored(lambda text: text.replace('"url":"http', '"url":"gopher'))
        now = d.get('/v1/alerts')
        assert 'targets[0].url' in now['refused'] and now['targets'] == [], now
        call(d, 'POST', '/v1/alerts/test', {}, 409)
        wait_for(lambda: 'the stored rules cannot be used' in d.log.read_text())
        call(d, 'PUT', '/v1/alerts', now, 422)  # as GET gave it: would have left no rules
        assert d.get('/v1/alerts') == now
        assert 'refused' not in call(d, 'PUT', '/v1/alerts', rules(receiver))
        assert 'refused' not in d.get('/v1/alerts')
        call(d, 'POST', '/v1/alerts/test', {}, 202)


for test in (what_is_refused, stored_by_older_versions, each_kind_once, receivers_in_trouble, killed_in_between,
             owners_and_order, private_addresses):
    begun = time.monotonic()
    test()
    print('%s: %.1f s' % (test.__name__, time.monotonic() - begun))
