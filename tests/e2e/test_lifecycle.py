#!/usr/bin/env python3
"""Start, stop and everything between: first token, lock, configuration, reload, stops under load,
kill -9 at random points of an ingest run, uploads that wait over a restart.

Covers: server/daemon.c server/data_dir.c server/first_token.c server/cmd_run.c
server/cmd_check_config.c server/cmd_migrate.c server/preflight.c"""
import http.client, json, os, pathlib, random, resource, signal, socket, stat, subprocess, threading, time
from daemon import Daemon, PROGRAM

SEED = int(os.environ.get('SEED', '20261129'))
SHOP = '0285884D-3DE9-3051-B23A-63B48BF99F35'
NO_TOKEN = {'STALLSYM_ADMIN_TOKEN': ''}


def report(id, offset):
    return {'id': id, 'kind': 'stall', 'timestamp': int(time.time() * 1000), 'duration_ms': 900,
            'stack': [{'uuid': SHOP, 'offset': hex(offset)}, {'uuid': SHOP, 'offset': '0x2000'}]}


def batch(reports):
    return {'app': {'bundle_id': 'com.example.shop', 'version': '7.2.1', 'build': '7210'},
            'device': {'model': 'iPhone14,7', 'os_version': '16.6', 'arch': 'arm64'},
            'images': [{'uuid': SHOP, 'name': 'Shop', 'load_address': '0x100000000'}],
            'reports': reports}


def run(arguments, env=None, **more):
    return subprocess.run([PROGRAM] + arguments, env=dict(os.environ, **(env or {})),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=30, **more)


class Load:
    """Clients that post batches until told to stop; remembers what was answered 202."""

    def __init__(self, daemon, name, clients=4):
        self.daemon, self.name = daemon, name
        self.sent, self.answered, self.lock = {}, set(), threading.Lock()
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.client, args=(i,)) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def client(self, number):
        round = 0
        while not self.over.is_set():
            reports = [report('%s-%d-%d-%d' % (self.name, number, round, i),
                              0x1000 + (number * 7919 + round * 31 + i) % 3000) for i in range(10)]
            round += 1
            with self.lock:
                self.sent.update((r['id'], r) for r in reports)
            try:
                answer = self.daemon.post_reports(batch(reports))
            except (OSError, http.client.HTTPException):
                time.sleep(0.005)
                continue
            if answer.status == 202:
                assert answer.json['accepted'] == 10, answer
                with self.lock:
                    self.answered.update(r['id'] for r in reports)
            else:
                assert answer.status == 503, answer

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def check_nothing_lost(daemon, loads):
    """Everything answered is there; sending all again counts only what was never stored."""
    sent, answered = {}, set()
    for load in loads:
        sent.update(load.sent)
        answered |= load.answered
    stored = daemon.get('/v1/stats')['reports']
    assert len(answered) <= stored <= len(sent), (len(answered), stored, len(sent))
    for id in random.sample(sorted(answered), min(50, len(answered))):
        assert daemon.get('/v1/reports/' + id)['id'] == id
    duplicates = accepted = 0
    ids = sorted(sent)
    for at in range(0, len(ids), 200):
        answer = daemon.post_reports(batch([sent[id] for id in ids[at:at + 200]]), status=202).json
        duplicates += answer['duplicates']
        accepted += answer['accepted']
    assert duplicates == stored and accepted == len(ids) - stored, (duplicates, accepted, stored)
    again = daemon.post_reports(batch([sent[id] for id in sorted(answered)[:200]]), status=202).json
    assert again['accepted'] == 0
    stats = daemon.settle()
    assert stats['reports'] == len(ids), stats
    clusters = daemon.all_items('/v1/clusters')
    assert sum(c['count'] for c in clusters) == len(ids), len(ids)
    print('  %d sent, %d answered, %d stored' % (len(ids), len(answered), stored))


def first_token_and_ready():
    with Daemon(env=NO_TOKEN) as d:
        path = d.folder / 'data/admin-token'
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, oct(path.stat().st_mode)
        token = path.read_text().strip()
        assert d.request('GET', '/readyz', token=False).status == 200
        assert d.request('GET', '/healthz', token=False).status == 200
        assert d.request('GET', '/v1/stats', token=token).status == 200
        assert d.request('GET', '/v1/stats', token='wrong').status == 401
        assert token not in d.log.read_text()
        d.restart()
        assert path.read_text().strip() == token, 'the token was made anew'
        assert d.request('GET', '/v1/stats', token=token).status == 200
        # A token from the environment is added at any start, a short one refused.
        d.env = {'STALLSYM_ADMIN_TOKEN': 'another-admin-token'}
        d.restart()
        for good in (token, 'another-admin-token'):
            assert d.request('GET', '/v1/stats', token=good).status == 200
        assert d.stop() == 0
        assert not (d.folder / 'port').exists(), 'the port file stays'
        answer = run(['run'], {'STALLSYM_STORAGE_DIR': str(d.folder / 'data'),
                               'STALLSYM_ADMIN_TOKEN': 'short'})
        assert answer.returncode == 1 and 'STALLSYM_ADMIN_TOKEN' in answer.stderr, answer
        secret = d.folder / 'secret'
        secret.write_text('token-from-a-file\n')
        d.env = {'STALLSYM_ADMIN_TOKEN': '', 'STALLSYM_ADMIN_TOKEN_FILE': str(secret)}
        d.start()
        assert d.request('GET', '/v1/stats', token='token-from-a-file').status == 200


def one_daemon_a_folder():
    with Daemon() as d:
        answer = run(['run'], {'STALLSYM_STORAGE_DIR': str(d.folder / 'data'), 'STALLSYM_HTTP_PORT': '0'})
        assert answer.returncode == 1, answer
        assert 'in use by another stallsymd, process %d' % d.process.pid in answer.stderr, answer
        answer = run(['migrate'], {'STALLSYM_STORAGE_DIR': str(d.folder / 'data')})
        assert answer.returncode == 1 and 'in use' in answer.stderr, answer
        other = Daemon(folder=d.folder / 'other', env={'STALLSYM_HTTP_PORT': str(d.port)})
        other.folder.mkdir()
        try:
            other.env['STALLSYM_HTTP_PORT_FILE'] = str(other.folder / 'port')
            answer = run(['run'], {'STALLSYM_STORAGE_DIR': str(other.folder / 'data'),
                                   'STALLSYM_HTTP_PORT': str(d.port)})
            assert answer.returncode == 1 and 'ddress already in use' in answer.stderr, answer
            assert 'cannot listen on 127.0.0.1 port %d' % d.port in answer.stderr, answer
            assert not (other.folder / 'data').exists(), 'a daemon that never ran left its folder'
        finally:
            other.stop()
        assert d.request('GET', '/readyz', token=False).status == 200
        assert d.stop() == 0
        answer = run(['migrate'], {'STALLSYM_STORAGE_DIR': str(d.folder / 'data')})
        assert answer.returncode == 0 and answer.stdout.startswith('schema '), answer


def configuration():
    with Daemon() as d:
        conf = d.folder / 'x.conf'
        conf.write_text('[http]\nprot = 1\nport = 70000\n')
        for command in ('run', 'check-config'):
            answer = run([command, '-c', str(conf)])
            assert answer.returncode == 1, answer
            assert '%s:2: there is no key "prot" in [http]; "port" is one' % conf in answer.stderr, answer
            assert '%s:3: [http] port = 70000' % conf in answer.stderr, answer
            assert answer.stderr.count('prot') == 1, answer
        conf.write_text('[http]\nport = 1234\n')
        answer = run(['check-config', '-c', str(conf)])
        assert answer.returncode == 0 and answer.stdout == 'OK\n', answer
        answer = run(['check-config', '-c', str(conf), '--print'], {'STALLSYM_LOG_LEVEL': 'debug'})
        assert 'port = 1234\n' in answer.stdout and 'level = debug\n' in answer.stdout, answer
        answer = run(['check-config'], {'STALLSYM_HTTP_PROT': '1'})
        assert answer.returncode == 0 and 'STALLSYM_HTTP_PROT names no key; STALLSYM_HTTP_PORT does' in answer.stderr, answer
        conf.write_text('[clusters]\nrules = %s\n' % (d.folder / 'x.rules'))
        for text, wanted in (
                (None, 'cluster rules: cannot open'),
                ('nonsense\n', 'x.rules:1: unknown action `nonsense`'),
                ('# mine\nowner=feed image=Shop: Feed*\ndrop on=nobody: f\n',
                 'x.rules:3: `on` wants app, system, vendor or any, not `nobody`'),
                ('drop: a\n\nvendor module=\n', 'x.rules:3: an empty pattern'),
                ('depth=99: a\n', 'x.rules:1: `depth` wants a number from 1 to 16')):
            if text:
                (d.folder / 'x.rules').write_text(text)
            for command in ('run', 'check-config'):
                answer = run([command, '-c', str(conf)])
                assert answer.returncode == 1 and wanted in answer.stderr, answer
        (d.folder / 'x.rules').write_text('owner=feed image=Shop: Feed* "-[Feed*"\n')
        answer = run(['check-config', '-c', str(conf)])
        assert answer.returncode == 0 and answer.stdout == 'OK\n', answer
        for command in ('run', 'check-config'):
            answer = run([command], {'STALLSYM_HTTP_TRUSTED_PROXIES': '10.0.0.0/8 x'})
            assert answer.returncode == 1 and '"x" is no address' in answer.stderr, answer
        conf.write_text('[storage]\ndir = %s\n[http]\nport = 0\ncors_origins = https://a/\naddress = [::1]\n'
                        '[alerts]\npublic_url = a\n' % (d.folder / 'never'))
        for command in ('run', 'check-config'):
            answer = run([command, '-c', str(conf)])
            assert answer.returncode == 1, answer
            for wanted in (':5: [http] cors_origins = https://a/: an origin has no path',
                           ':6: [http] address = [::1]: an IP address', ':8: [alerts] public_url = a: a URL'):
                assert str(conf) + wanted in answer.stderr, answer
        conf.write_text('[storage]\ndir = %s\n[http]\naddress = no.such.host.invalid\nport = 0\n'
                        'trusted_proxies = x\nport_file = /none/port\n[tls]\ncertificate = /none\n' % (d.folder / 'never'))
        for command in ('run', 'check-config'):
            answer = run([command, '-c', str(conf)])
            assert answer.returncode == 1, answer
            for wanted in ('[http] address: address no.such.host.invalid: ', '[http] trusted_proxies: trusted proxy "x"',
                           '[http] port_file: no file can be made in /none: No such', '[tls] '):
                assert wanted in answer.stderr, (wanted, answer)
        assert not (d.folder / 'never').exists()
        for command in ('run', 'migrate', 'health'):
            answer = run([command, '--port', '1'])
            assert answer.returncode == 2 and 'unknown option "--port"' in answer.stderr, answer
        assert run(['run', '-c']).returncode == 2
        assert run(['run', 'x']).returncode == 2
        assert run(['check-config', '--what']).returncode == 2
        assert run(['run', '-c', str(d.folder / 'no')]).returncode == 1


def folders_that_cannot_be_used():
    with Daemon() as d:
        file = d.folder / 'file'
        file.write_text('')
        for bad in (str(file), str(file / 'below'), '/proc/stallsym'):
            answer = run(['run'], {'STALLSYM_STORAGE_DIR': bad, 'STALLSYM_HTTP_PORT': '0'})
            assert answer.returncode == 1 and 'storage folder' in answer.stderr, (bad, answer)
        rules = d.folder / 'rules'
        rules.write_text('drp wait: x\n')
        answer = run(['run'], {'STALLSYM_STORAGE_DIR': str(d.folder / 'fresh'),
                               'STALLSYM_CLUSTERS_RULES': str(rules)})
        assert answer.returncode == 1 and str(rules) + ':1: ' in answer.stderr, answer
        # A database of another program, or a damaged one, is said and left alone.
        data = d.folder / 'damaged'
        data.mkdir()
        (data / 'stallsym.db').write_text('no database at all, though long enough to be one\n' * 100)
        answer = run(['run'], {'STALLSYM_STORAGE_DIR': str(data), 'STALLSYM_HTTP_PORT': '0'})
        assert answer.returncode == 1 and answer.stderr.strip(), answer
        assert (data / 'stallsym.db').read_text().startswith('no database')


def reload():
    with Daemon() as d:
        d.stop()
        conf = d.folder / 'x.conf'
        conf.write_text('[log]\nlevel = warn\n')
        env = dict(os.environ, STALLSYM_STORAGE_DIR=str(d.folder / 'data'), STALLSYM_HTTP_PORT='0',
                   STALLSYM_HTTP_PORT_FILE=str(d.folder / 'port'))
        log = d.folder / 'hup.log'
        with open(log, 'w') as out:
            process = subprocess.Popen([PROGRAM, 'run', '-c', str(conf)], env=env, stderr=out)
        try:
            wait_for(lambda: (d.folder / 'port').exists())
            assert 'listening' not in log.read_text() # level warn
            conf.write_text('[log]\nlevel = info\n[http]\nthreads = 7\n')
            process.send_signal(signal.SIGHUP)
            wait_for(lambda: 'configuration reloaded' in log.read_text())
            assert 'key=http.threads' in log.read_text()
            conf.write_text('[log]\nlevel = loud\n')
            process.send_signal(signal.SIGHUP)
            wait_for(lambda: 'configuration not reloaded' in log.read_text())
            assert process.poll() is None
        finally:
            process.terminate()
            assert process.wait(timeout=10) == 0


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'waited too long'
        time.sleep(0.01)


def term_under_load():
    with Daemon() as d:
        loads = []
        for round in range(3):
            load = Load(d, 'term%d' % round)
            loads.append(load)
            wait_for(lambda: len(load.answered) > 200)
            begin = time.monotonic()
            status = d.stop()
            took = time.monotonic() - begin
            load.end()
            assert status == 0, status
            assert took < 5, took
            assert 'level=error' not in d.log.read_text()
            d.start()
        check_nothing_lost(d, loads)


def kill_at_any_point():
    with Daemon() as d:
        loads = []
        for round in range(8):
            load = Load(d, 'kill%d' % round)
            loads.append(load)
            time.sleep(random.uniform(0.02, 0.5))
            d.stop(signal.SIGKILL)
            load.end()
            d.start()
        check_nothing_lost(d, loads)


def a_second_signal_ends_it_at_once():
    with Daemon(env={'STALLSYM_HTTP_STOP_MS': '60000'}) as d:
        half = socket.create_connection(('127.0.0.1', d.port))
        half.sendall(b'POST /v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-admin-token\r\n'
                     b'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{')
        wait_for(lambda: b'stallsym_http_connections 1\n' in d.request('GET', '/metrics').body or
                 b'stallsym_http_connections 2\n' in d.request('GET', '/metrics').body)
        d.process.send_signal(signal.SIGTERM)
        wait_for(lambda: 'msg="stopping"' in d.log.read_text())
        while d.process.poll() is None:
            d.process.send_signal(signal.SIGTERM)
            time.sleep(0.02)
        assert d.process.returncode in (0, 128 + signal.SIGTERM), d.process.returncode
        half.close()


def a_full_disk_loses_nothing():
    """A cap on the size of the daemon's files stands for the disk."""
    with Daemon() as d:
        load = Load(d, 'full')
        wait_for(lambda: len(load.answered) > 200)
        for _ in range(3):
            limits = resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, (8192, limits[1]))
            wait_for(lambda: d.request('GET', '/readyz', token=False).status == 503)
            answer = d.post_reports(batch([report('refused-%d' % time.monotonic_ns(), 0x1000)]))
            assert answer.status in (503, 202), answer
            assert b'/' not in answer.body.replace(b'about:blank', b''), answer # no path of the server
            resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, limits)
            wait_for(lambda: d.request('GET', '/readyz', token=False).status == 200)
            before = len(load.answered)
            wait_for(lambda: len(load.answered) > before + 100)
        load.end()
        assert d.process.poll() is None
        stored = {id for id in load.answered if d.get('/v1/reports/' + id)}
        assert stored == load.answered
        d.restart(signal.SIGKILL)
        answered = sorted(load.answered)
        for at in range(0, len(answered), 200):
            answer = d.post_reports(batch([load.sent[id] for id in answered[at:at + 200]]), status=202)
            assert answer.json['accepted'] == 0, answer


def uploads_wait_over_a_restart():
    demo = pathlib.Path(__file__).parent.parent / 'demo/Shop.dSYM.zip'
    with Daemon() as d:
        for how in (signal.SIGTERM, signal.SIGKILL):
            bytes = demo.read_bytes()
            answer = d.request('POST', '/v1/symbols', bytes, {'Content-Type': 'application/zip'})
            assert answer.status in (200, 202), answer
            id = answer.json['upload_id']
            d.restart(how)
            wait_for(lambda: d.get('/v1/symbols/uploads/%s' % id)['state'] in ('indexed', 'failed'))
            state = d.get('/v1/symbols/uploads/%s' % id)
            assert state['state'] == 'indexed', state
            d.request('DELETE', '/v1/symbols/' + state['slices'][0]['uuid'])
        d.stop()
        left = [p for p in (d.folder / 'data').rglob('*') if p.is_file() and
                ('spool' in p.parts or 'work' in p.parts)]
        assert left == [], left


def main():
    random.seed(SEED)
    print('seed %d' % SEED)
    for test in (first_token_and_ready, one_daemon_a_folder, configuration, folders_that_cannot_be_used,
                 reload, term_under_load, kill_at_any_point, a_second_signal_ends_it_at_once,
                 a_full_disk_loses_nothing, uploads_wait_over_a_restart):
        begin = time.monotonic()
        test()
        print('%s: %.1f s' % (test.__name__, time.monotonic() - begin))


main()
