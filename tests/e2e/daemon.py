"""A stallsymd process for a test: started on a free loopback port over a folder of its own.

    with Daemon() as d:
        d.post_reports(body); d.upload(path); d.settle(); d.get('/v1/clusters')
"""
import http.client, json, os, pathlib, shutil, signal, subprocess, sys, tempfile, time

PROGRAM = os.environ.get('STALLSYMD', 'build/stallsymd')
DATA = pathlib.Path(os.environ.get('STALLSYM_DATA', '../shared/data'))
CASES = DATA.parent / 'research' / 'bugcases'
OF_TESTS = ('STALLSYM_DATA', 'STALLSYM_SANITIZER', 'STALLSYM_SPEEDSCOPE') # a daemon would warn of them
SANITIZER = os.environ.get('STALLSYM_SANITIZER') # address, thread: no measuring of time and memory
SLOW = {None: 1, 'address': 4, 'thread': 10}[SANITIZER] # for what waits


def skip(reason):
    print('skipped: ' + reason)
    sys.exit(77)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return '%d %s' % (self.status, self.body[:600].decode('utf-8', 'replace'))


class Daemon:
    def __init__(self, folder=None, env=None):
        self.own = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix='stallsym-test-'))
        self.env = env or {}
        self.process = None
        self.token = None
        self.log = self.folder / 'log'

    def start(self):
        port_file = self.folder / 'port'
        port_file.unlink(missing_ok=True)
        env = {**{k: v for k, v in os.environ.items() if k not in OF_TESTS},
               'STALLSYM_STORAGE_DIR': str(self.folder / 'data'),
               'STALLSYM_HTTP_ADDRESS': '127.0.0.1', 'STALLSYM_HTTP_PORT': '0',
               'STALLSYM_HTTP_PORT_FILE': str(port_file),
               'STALLSYM_ADMIN_TOKEN': 'test-admin-token',
               **({'STALLSYM_HTTP_READ_MS': '60000'} if SANITIZER else {}), **self.env}
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen([PROGRAM, 'run'], env=env, stdout=log, stderr=log)
        deadline = time.monotonic() + 20 * SLOW
        while not port_file.exists() or not port_file.read_text().strip():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError('the daemon does not start:\n' + self.log.read_text())
            time.sleep(0.01)
        self.port = int(port_file.read_text())
        self.token = 'test-admin-token'
        return self

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(timeout=20 * SLOW)
        return self.process.returncode if self.process else None

    def restart(self, how=signal.SIGTERM):
        self.stop(how)
        return self.start()

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        runs, status = self.process and self.process.poll() is None, 0
        if runs and SANITIZER and kind is None: # leaks are looked for at the end
            status = self.stop()
        elif runs:
            self.process.kill()
            self.process.wait()
        if kind is not None or status:
            sys.stderr.write(self.log.read_text()[-4000:])
        if self.own:
            shutil.rmtree(self.folder, ignore_errors=True)
        assert status == 0, 'stopped with status %d' % status

    def request(self, method, path, body=None, headers=None, token=True):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=300)
        headers = dict(headers or {})
        if token and 'Authorization' not in headers:
            headers['Authorization'] = 'Bearer ' + (token if isinstance(token, str) else self.token)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, status=200):
        answer = self.request('GET', path)
        assert answer.status == status, (path, answer)
        return answer.json

    def post_reports(self, body, media=None, status=None, headers=None):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        answer = self.request('POST', '/v1/reports', body,
                              {'Content-Type': media or 'application/json', **(headers or {})})
        if status is not None:
            assert answer.status == status, answer
        return answer

    def upload(self, data, query='wait=1', status=None):
        if not isinstance(data, bytes):
            data = pathlib.Path(data).read_bytes()
        answer = self.request('POST', '/v1/symbols?' + query, data,
                              {'Content-Type': 'application/octet-stream'})
        if status is not None:
            assert answer.status == status, answer
        return answer

    def settle(self, seconds=30):
        """Until no stack waits for the resolver, and no report for its culprit."""
        deadline = time.monotonic() + seconds * SLOW
        while True:
            stats = self.get('/v1/stats')
            if stats['pending_stacks'] == 0 and stats['pending_findings'] == 0:
                return stats
            assert time.monotonic() < deadline, stats
            time.sleep(0.02)

    def all_items(self, path):
        items, cursor = [], None
        while True:
            page = self.get(path + ('&' if '?' in path else '?') + 'limit=200' +
                            ('&cursor=' + cursor if cursor else ''))
            items += page['items']
            cursor = page.get('next_cursor')
            if not cursor:
                return items


def frame_lines(raw_frame):
    """[(function, base name of the file, line)], innermost first."""
    return [(f['mangled'] or f['function'], os.path.basename(f['file'] or ''), f['line'])
            for f in raw_frame['frames']]
