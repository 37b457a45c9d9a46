#!/usr/bin/env python3
"""TLS by configuration: requests, uploads and pipelines over it, versions, a renewed certificate on
SIGHUP, what is wrong with files said at start, `stallsymd health`.

Covers: server/http/tls.c server/cmd_health.c"""
import http.client, json, os, pathlib, shutil, signal, socket, ssl, subprocess, sys, tempfile, threading, time, warnings

sys.path.insert(0, os.path.dirname(__file__))
from daemon import PROGRAM, SLOW, Answer, Daemon, skip
from traffic import DEMO, body, report

if not shutil.which('openssl'):
    skip('no openssl to make a certificate with')
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='stallsym-tls-'))
TRUST = FOLDER / 'trust.pem'


def make(name):
    """A key and a certificate that it signed itself."""
    key, certificate = FOLDER / (name + '.key'), FOLDER / (name + '.pem')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
                    '-keyout', key, '-out', certificate, '-subj', '/CN=' + name,
                    '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-days', '2'],
                   check=True, capture_output=True)
    key.chmod(0o600)
    with open(TRUST, 'a') as all_of_them:
        all_of_them.write(certificate.read_text())
    return certificate, key


class TlsDaemon(Daemon):
    def __init__(self, certificate, key, **env):
        super().__init__(env={'STALLSYM_TLS_CERTIFICATE': str(certificate), 'STALLSYM_TLS_KEY': str(key), **env})

    def connect(self, context=None):
        context = context or ssl.create_default_context(cafile=TRUST)
        return http.client.HTTPSConnection('127.0.0.1', self.port, timeout=20 * SLOW, context=context)

    def request(self, method, path, body=None, headers=None, token=True):
        connection = self.connect()
        headers = {'Authorization': 'Bearer ' + self.token, **(headers or {})}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()


def name_of(d):
    context = ssl.create_default_context(cafile=TRUST)
    with socket.create_connection(('127.0.0.1', d.port), 10) as s:
        with context.wrap_socket(s, server_hostname='localhost') as t:
            return dict(x[0] for x in t.getpeercert()['subject'])['commonName'], t.version(), t.cipher()[0]


def health(d):
    env = {**os.environ, **d.env, 'STALLSYM_HTTP_PORT': str(d.port)}
    return subprocess.run([PROGRAM, 'health'], env=env, capture_output=True, text=True, timeout=20 * SLOW)


def serves():
    certificate, key = make('first')
    with TlsDaemon(certificate, key) as d:
        assert name_of(d)[:2] == ('first', 'TLSv1.3')
        d.upload(DEMO, status=200)
        d.post_reports(body([report('tls-%d' % i) for i in range(200)]), status=202)
        assert d.settle()['reports'] == 200
        big = d.post_reports(body([report('big-%d' % i) for i in range(9000)]), status=202)
        assert big.json['accepted'] == 9000
        # One connection, many requests.
        connection = d.connect()
        for _ in range(50):
            connection.request('GET', '/v1/stats', headers={'Authorization': 'Bearer ' + d.token})
            answer = connection.getresponse()
            assert answer.status == 200 and json.loads(answer.read())['reports'] == 9200
        connection.close()
        # Old versions are refused, and so is plain text.
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers('ALL:@SECLEVEL=0')
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            d.connect(old).request('GET', '/healthz')
            assert False, 'TLS 1.1 was taken'
        except (ssl.SSLError, OSError):
            pass
        twelve = ssl.create_default_context(cafile=TRUST)
        twelve.maximum_version = ssl.TLSVersion.TLSv1_2
        connection = d.connect(twelve)
        connection.request('GET', '/healthz')
        assert connection.sock.version() == 'TLSv1.2' and connection.sock.cipher()[0].startswith('ECDHE-')
        assert connection.getresponse().status == 200
        for method, sent in (('GET', None), ('POST', b'x' * 3000), ('PUT', b''), ('HEAD', None), ('OPTIONS', None)):
            plain = http.client.HTTPConnection('127.0.0.1', d.port, timeout=5)
            plain.request(method, '/v1/reports', sent)
            answer = plain.getresponse()
            told = answer.read()
            assert answer.status == 400 and answer.headers['Content-Type'] == 'application/problem+json', method
            assert method == 'HEAD' or json.loads(told)['detail'] == 'this port speaks TLS: use https://', told
            plain.close()
        for noise in (b'SSH-2.0-x\r\n', b'GET', b'\x16\x03\x01GET /', b'\0' * 100):
            with socket.create_connection(('127.0.0.1', d.port), 5) as s:
                s.settimeout(5)
                try:
                    s.sendall(noise)
                    s.shutdown(socket.SHUT_WR)
                    assert not s.recv(100).startswith(b'HTTP'), noise
                except OSError:
                    pass
        done = health(d)
        assert done.returncode == 0 and done.stdout == 'ok\n', done
        renewed(d, certificate, key)
        assert d.stop() == 0
        # Nobody is there any more.
        done = health(d)
        assert done.returncode != 0 and 'nothing answers' in done.stderr, done


def renewed(d, certificate, key):
    """SIGHUP puts a renewed pair in force, under requests; a bad one leaves the old in force."""
    over, failures = threading.Event(), []

    def client():
        loose = ssl.create_default_context()
        loose.check_hostname, loose.verify_mode = False, ssl.CERT_NONE
        while not over.is_set():
            try:
                connection = d.connect(loose)
                connection.request('GET', '/healthz')
                if connection.getresponse().status != 200:
                    failures.append('status')
                connection.close()
            except OSError as e:
                failures.append(e)
    threads = [threading.Thread(target=client) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        for name in ('second', 'third'):
            fresh, fresh_key = make(name)
            fresh_key.replace(key)
            fresh.replace(certificate)
            d.process.send_signal(signal.SIGHUP)
            deadline = time.monotonic() + 10
            while name_of(d)[0] != name:
                assert time.monotonic() < deadline, name_of(d)
                time.sleep(0.05)
        key.write_text('no key')
        d.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 10
        while 'reload failed' not in d.log.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert name_of(d)[0] == 'third'
    finally:
        over.set()
        for t in threads:
            t.join()
    assert not failures, failures[:5]


def refused():
    good, key = make('good')
    other, other_key = make('other')
    expired, expired_key = make_expired()
    empty, junk, open_key = FOLDER / 'empty', FOLDER / 'junk', FOLDER / 'open.key'
    empty.write_bytes(b'')
    junk.write_bytes(b'-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
    shutil.copy(key, open_key)
    open_key.chmod(0o644)
    empty.chmod(0o600)
    cases = [(good, '', '', 'given together'), ('', key, '', 'given together'),
             (FOLDER / 'gone', key, '', 'gone'), (good, FOLDER / 'gone', '', 'gone'),
             (good, other_key, '', 'not that of the certificate'), (empty, key, '', 'is empty'),
             (good, empty, '', 'is empty'), (junk, key, '', 'cannot be used'), (good, good, '', 'TLS key'),
             (good, open_key, '', 'read by everybody'), (expired, expired_key, '', 'has expired'), (good, key, 'NORMAL:+NONSENSE', 'NONSENSE')]
    for certificate, its_key, priorities, words in cases:
        folder = tempfile.mkdtemp(dir=FOLDER)
        env = {**os.environ, 'STALLSYM_STORAGE_DIR': folder, 'STALLSYM_HTTP_PORT': '0',
               'STALLSYM_TLS_CERTIFICATE': str(certificate), 'STALLSYM_TLS_KEY': str(its_key),
               'STALLSYM_TLS_PRIORITIES': priorities}
        for command in ('check-config', 'run'):
            done = subprocess.run([PROGRAM, command], env=env, capture_output=True, text=True,
                                  timeout=20 * SLOW)
            assert done.returncode != 0 and words in done.stderr, (words, done)


def make_expired():
    """`openssl ca` is the one that takes dates of the past."""
    _, key = make('expired')
    request, certificate, config = FOLDER / 'expired.csr', FOLDER / 'expired.pem', FOLDER / 'ca.cnf'
    (FOLDER / 'index').write_text('')
    config.write_text('[ca]\ndefault_ca=x\n[x]\ndatabase=%s/index\nrand_serial=yes\nnew_certs_dir=%s\n'
                      'default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' % (FOLDER, FOLDER))
    for args in (['req', '-new', '-key', key, '-subj', '/CN=expired', '-out', request],
                 ['ca', '-batch', '-selfsign', '-config', config, '-keyfile', key, '-in', request, '-out', certificate,
                  '-notext', '-startdate', '20200101000000Z', '-enddate', '20200102000000Z']):
        subprocess.run(['openssl', *args], check=True, capture_output=True)
    return certificate, key


try:
    serves()
    refused()
finally:
    shutil.rmtree(FOLDER)
