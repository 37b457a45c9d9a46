"""Bug case B28: nineteen raw-socket cases against the real daemon. The case's own client knows no
tokens, so it runs from a copy that sends one."""
import os, pathlib, re, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(__file__))
from daemon import CASES, Daemon, skip

if not (CASES / 'B28' / 'send.py').exists():
    skip('needs the bug cases beside the data')

STATUS = r'HTTP/1\.1 (\d+)'
ALLOWED = {
    'one_piece': r'HTTP/1.1 202', 'byte_by_byte': r'HTTP/1.1 202', 'split_in_utf8': r'HTTP/1.1 202',
    'chunked': r'HTTP/1.1 202', 'expect_100': r'HTTP/1.1 100.* then HTTP/1.1 202',
    'big_batch': r'\d+ bytes: HTTP/1.1 202', 'too_big_declared': r'HTTP/1.1 413',
    'length_negative': r'HTTP/1.1 400', 'length_overflow': r'HTTP/1.1 (400|413)',
    'length_and_chunked': r'HTTP/1.1 400',
    'short_body_then_close': r'client closed; next request: HTTP/1.1 202',
    'upload_broken_off': r'client closed; next request: HTTP/1.1 202',
    'pipelined': r'2 answers', 'bad_json_keepalive': r'HTTP/1.1 400.* then HTTP/1.1 202',
    'slow_headers_200': r'.*: HTTP/1.1 202.* after [01]\.',
    'huge_header': r'HTTP/1.1 (414|431|400)',
    'path_tricks': r'HTTP/1.1 40[04].*\| HTTP/1.1 400.*\| HTTP/1.1 404.*\| HTTP/1.1 400.*\| HTTP/1.1 400',
    'methods': r'PUT HTTP/1.1 405.*DELETE HTTP/1.1 405.*HEAD HTTP/1.1 405.*OPTIONS HTTP/1.1 204.*BREW HTTP/1.1 405',
    'gzip_bomb': r'\d+ bytes: HTTP/1.1 (413|400)',
}
# Reports of the cases that were answered with 202.
STORED = 1 + 1 + 1 + 1 + 1 + 3000 + 1 + 1 + 2 + 1 + 1


def client(folder, token):
    text = (CASES / 'B28' / 'send.py').read_text()
    text = text.replace(r'Host: x\r\n', r'Host: x\r\nAuthorization: Bearer %s\r\n' % token)
    # head() builds its line with the % operator; a token has no percent sign.
    text = re.sub(r'os\.path\.dirname\(os\.path\.abspath\(__file__\)\)', repr(str(CASES / 'B28')), text)
    path = pathlib.Path(folder) / 'send.py'
    path.write_text(text)
    return path


def sockets(pid):
    names = []
    for fd in os.listdir('/proc/%d/fd' % pid):
        try:
            names.append(os.readlink('/proc/%d/fd/%s' % (pid, fd)))
        except FileNotFoundError:
            pass
    return sum(name.startswith('socket:') for name in names)


def peak_kb(pid):
    text = pathlib.Path('/proc/%d/status' % pid).read_text()
    return int(re.search(r'VmHWM:\s+(\d+)', text).group(1))


with tempfile.TemporaryDirectory() as folder, Daemon() as d:
    pid = d.process.pid
    d.get('/v1/stats')
    before = sockets(pid)
    send = client(folder, d.token)
    out = subprocess.run([sys.executable, str(send), '127.0.0.1', str(d.port), '/v1/reports', '/v1/symbols'],
                         capture_output=True, text=True, timeout=300).stdout
    lines = dict(line.split(None, 1) for line in out.splitlines())
    failed = [name for name, pattern in ALLOWED.items()
              if not re.match(pattern, lines.get(name, 'not run'))]
    assert not failed and set(lines) == set(ALLOWED), (failed, out)
    assert d.process.poll() is None
    d.settle()
    stats = d.get('/v1/stats')
    assert stats['reports'] == STORED, stats
    assert d.get('/v1/reports/b28-big-2999')['id'] == 'b28-big-2999'
    assert list((d.folder / 'data' / 'spool').iterdir()) == []
    deadline = time.monotonic() + 10
    while sockets(pid) > before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sockets(pid) <= before, (sockets(pid), before)
    # A sanitizer's shadow is not the daemon's memory.
    if 'asan' not in os.environ.get('BUILD', '') and 'tsan' not in os.environ.get('BUILD', ''):
        assert peak_kb(pid) < 150 * 1024, peak_kb(pid)
print('ok: B28, %d cases' % len(ALLOWED))
