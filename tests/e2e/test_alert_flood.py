#!/usr/bin/env python3
"""An app that brings very many new clusters and missing images keeps no other app's alerts back,
whether a rule is for it or not.

Covers: server/jobs/alerts.c"""
import http.server
import io
import json
import threading
import time
import uuid
import zipfile

import systemlab
from daemon import Daemon

FLOOD, QUIET = 'com.example.flood', 'com.example.quiet'
FAST = {'STALLSYM_ALERTS_INTERVAL_MS': '100', 'STALLSYM_RETENTION_INTERVAL_MS': '50',
        'STALLSYM_ALERTS_ALLOW_PRIVATE': 'yes'}


class Receiver:
    def __init__(self):
        self.got = got = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                got.append((self.path, json.loads(self.rfile.read(int(self.headers['Content-Length'])))))
                self.send_response(200)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        server.daemon_threads = True
        self.url = 'http://127.0.0.1:%d' % server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def taken(self, path):
        return [body for where, body in self.got if where == path]


def call(d, method, path, body):
    answer = d.request(method, path, json.dumps(body), {'Content-Type': 'application/json'})
    assert answer.status == 200, answer
    return answer.json


def wait_for(what, seconds, why):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why()
        time.sleep(0.05)


KITS = [uuid.uuid5(uuid.NAMESPACE_URL, 'flood%d' % i) for i in range(12)]
FUNCTIONS = 100 # of a kit


def archive():
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as z:
        for i, kit in enumerate(KITS):
            names = ['_kit%d_work%d' % (i, n) for n in range(FUNCTIONS)]
            z.writestr('Kit%d' % i, systemlab.dylib('@rpath/Kit%d' % i, 0, kit, names))
    return out.getvalue()


def batch(app, image, name, offset):
    return {'app': {'bundle_id': app, 'version': '1'}, 'device': {'model': 'd', 'os_version': '17', 'arch': 'arm64'},
            'images': [{'uuid': str(image), 'name': 'Kit', 'load_address': '0x100000000',
                        'path': '/var/containers/Bundle/Application/X/Shop.app/Frameworks/Kit'}],
            'reports': [{'id': name, 'kind': 'stall', 'duration_ms': 900,
                         'stack': [{'uuid': str(image), 'offset': hex(offset)}]}]}


def flood(mute):
    receiver = Receiver()
    with Daemon(env=FAST) as d:
        d.upload(archive(), 'bundle_id=%s&wait=1' % FLOOD, 200)
        targets = [{'name': n, 'url': receiver.url + '/' + n} for n in ('flood', 'quiet')]
        call(d, 'PUT', '/v1/alerts', {'targets': targets, 'rules': [
            {'bundle_id': QUIET, 'to': ['quiet'], 'min_reports': 1},
            *([] if mute else [{'bundle_id': FLOOD, 'to': ['flood'], 'min_reports': 1}])]})
        d.post_reports([batch(FLOOD, kit, 's%d-%d' % (i, n), 0x1004 + n * systemlab.STEP)
                        for i, kit in enumerate(KITS) for n in range(FUNCTIONS)], status=202)
        # As many images that nobody has, each wanted more than the quiet app's.
        d.post_reports([batch(FLOOD, '0285884D-3DE9-3051-B23A-%012X' % (i % 1100), 'm%d' % i, 16)
                        for i in range(2200)], status=202)
        d.settle(60)
        d.post_reports([batch(QUIET, KITS[0], 'q', 0x1004),
                        batch(QUIET, '1285884D-3DE9-3051-B23A-000000000000', 'w', 16)], status=202)
        told = lambda: {b['kind'] for b in receiver.taken('/quiet')}
        wait_for(lambda: told() >= {'new_cluster', 'missing_symbols'}, 20, lambda: (mute, told(), d.get('/v1/stats')))
        clusters = {c['id'] for c in d.all_items('/v1/clusters?bundle_id=' + FLOOD) if not c['provisional']}
        assert len(clusters) > 1000, len(clusters)
        if mute:
            assert not receiver.taken('/flood')
            return
        # All of them in the end, each once.
        of_flood = lambda: [b['cluster']['id'] for b in receiver.taken('/flood') if b['kind'] == 'new_cluster']
        wait_for(lambda: len(of_flood()) >= len(clusters), 60, lambda: (len(of_flood()), len(clusters)))
        time.sleep(0.3)
        assert sorted(of_flood()) == sorted(clusters), (len(of_flood()), len(clusters))


flood(mute=True)
flood(mute=False)
print('ok: a flood of alerts')
