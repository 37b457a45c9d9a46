"""upload.sh, as the daemon serves it, under dash and under bash in POSIX mode: what CI sees."""
import os, pathlib, random, re, shutil, signal, socket, subprocess, sys, tempfile, threading, zipfile

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon, skip

for program in ('curl', 'zip'):
    if not shutil.which(program):
        skip('needs ' + program)
SHELLS = [s for s in (['dash'], ['bash', '--posix'], ['busybox', 'sh']) if shutil.which(s[0])]
DEMO = pathlib.Path(__file__).parent.parent / 'demo' / 'Shop.dSYM.zip'


def fake_dwarfdump(folder, uuid):
    """Tells the UUID that the real one would: it is not on Linux machines."""
    bin_dir = folder / 'bin'
    bin_dir.mkdir()
    script = bin_dir / 'dwarfdump'
    script.write_text('#!/bin/sh\ncase $2 in *Shop.dSYM) echo "UUID: %s (arm64) $2" ;; esac\n' % uuid)
    script.chmod(0o755)
    return bin_dir


def run(shell, script, args, env, status, *expected):
    full = {'PATH': os.environ['PATH'], 'TMPDIR': str(script.parent), **env}
    p = subprocess.run([*shell, str(script), *[str(a) for a in args]], env=full, text=True,
                       capture_output=True, timeout=120)
    text = p.stdout + p.stderr
    assert p.returncode == status, (shell, args, p.returncode, text)
    for part in expected:
        assert part in text, (shell, args, part, text)
    assert 'test-admin-token' not in text
    return text


def one_shell(shell):
    with tempfile.TemporaryDirectory() as name, Daemon() as d:
        folder = pathlib.Path(name)
        script = folder / 'upload.sh'
        script.write_bytes(d.request('GET', '/upload.sh', token=False).body)
        url = 'http://127.0.0.1:%d' % d.port
        env = {'STALLSYM_URL': url, 'STALLSYM_TOKEN': d.token}

        # Command line.
        run(shell, script, ['--help'], {}, 0, 'Usage:', 'Exit status:')
        run(shell, script, ['--nonsense'], env, 2, 'unknown option')
        run(shell, script, ['x'], {}, 2, 'STALLSYM_URL')
        run(shell, script, ['x'], {'STALLSYM_URL': url}, 2, 'STALLSYM_TOKEN')
        run(shell, script, [folder / 'not there'], env, 2, 'is not there')
        run(shell, script, [], env, 2, 'no path given')
        run(shell, script, ['--kind', 'x', folder], env, 2, '--kind')

        # An archive whose path has blanks and quotes.
        archive = folder / "My 'App'.xcarchive"
        (archive / 'dSYMs').mkdir(parents=True)
        zipfile.ZipFile(DEMO).extractall(archive / 'dSYMs')
        # A second one, of no use: the same symbols inside a framework's bundle.
        shutil.copytree(archive / 'dSYMs' / 'Shop.dSYM', archive / 'dSYMs' / 'deeper' / 'Copy.framework.dSYM')
        count = 2
        run(shell, script, ['--dry-run', archive], {'STALLSYM_URL': url}, 0, 'would be sent')
        assert d.get('/v1/symbols')['items'] == []
        run(shell, script, ['--wait', '--bundle-id', 'com.example & co', '--version', '1.0+1', archive], env, 0,
            'Shop.dSYM: indexed', '%d sent, 0 there already, 0 failed' % count)
        items = d.get('/v1/symbols')['items']
        uuid = items[0]['uuid']
        assert items[0]['bundle_id'] == 'com.example & co' and items[0]['version'] == '1.0+1', items

        # Where UUIDs can be told, what is there is not sent again.
        with_dwarfdump = {**env, 'PATH': '%s:%s' % (fake_dwarfdump(folder, uuid), os.environ['PATH'])}
        shop = archive / 'dSYMs' / 'Shop.dSYM'
        run(shell, script, [str(shop) + '/'], with_dwarfdump, 0, 'the server has it', '0 sent, 1 there already')
        run(shell, script, ['--force', shop], with_dwarfdump, 0, '1 sent')
        run(shell, script, ['--wait', '--require-all', '--force', shop], with_dwarfdump, 0, '1 sent')

        # Variables of an Xcode build.
        xcode = {**env, 'DWARF_DSYM_FOLDER_PATH': str(archive / 'dSYMs'), 'DWARF_DSYM_FILE_NAME': 'Shop.dSYM',
                 'PRODUCT_BUNDLE_IDENTIFIER': 'com.example.xcode', 'MARKETING_VERSION': '2.0'}
        run(shell, script, ['--wait'], xcode, 0, '1 found')
        run(shell, script, ['--wait'], {**env, 'ARCHIVE_PATH': str(archive)}, 0, '%d found' % count)

        # Failures.
        empty = folder / 'empty'
        empty.mkdir()
        run(shell, script, [empty], env, 0, 'no dSYMs found')
        run(shell, script, ['--require-all', empty], env, 5, 'no dSYMs found')
        junk = folder / 'junk'
        junk.write_text('this is no symbol file')
        run(shell, script, [junk, shop], env, 1, 'junk: refused: this is no archive', 'tar.gz with dSYMs in it', '1 failed')
        run(shell, script, ['--require-all', junk], env, 5)
        # Only the server can tell that this one is cut off.
        cut = folder / 'Cut.dSYM'
        shutil.copytree(archive / 'dSYMs' / 'Shop.dSYM', cut)
        dwarf = cut / 'Contents' / 'Resources' / 'DWARF' / 'Shop'
        dwarf.write_bytes(dwarf.read_bytes()[:2000])
        run(shell, script, ['--require-all', cut], env, 5,
            'Cut.dSYM: refused: no symbol file of the upload could be indexed: ', '1 failed')
        run(shell, script, [shop], {**env, 'STALLSYM_TOKEN': 'wrong'}, 4, 'refused the token')
        run(shell, script, ['--url', 'http://127.0.0.1:1', shop], env, 4, 'no answer')
        token = folder / 'token'
        token.write_text(d.token + '\n')
        run(shell, script, ['--quiet', '--token-file', token, shop], {'STALLSYM_URL': url + '/'}, 0)
        left = [p.name for p in folder.iterdir() if p.name.startswith('stallsym-upload')]
        assert left == [], left


class Proxy:
    """Hands connections on to the daemon and breaks those that `plan` says: after so many bytes; None
    lets one live; a function is called first. The last of the plan stays for good."""

    def __init__(self, daemon, plan):
        self.daemon, self.plan, self.broken = daemon, list(plan), 0
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            step = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
            if callable(step):
                step = step()
            if step == 0:
                self.broken += 1
                client.close()
                continue
            try:
                server = socket.create_connection(('127.0.0.1', self.daemon.port))
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.pump, args=(client, server, step), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, None), daemon=True).start()

    def pump(self, source, target, left):
        try:
            while data := source.recv(65536):
                if left is not None and len(data) > left:
                    target.sendall(data[:left])
                    self.broken += 1
                    break
                left = None if left is None else left - len(data)
                target.sendall(data)
        except OSError:
            pass
        for s in (source, target):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def in_pieces(shell):
    with tempfile.TemporaryDirectory() as name, Daemon() as d:
        folder = pathlib.Path(name)
        script = folder / 'upload.sh'
        script.write_bytes(d.request('GET', '/upload.sh', token=False).body)
        bin_dir = folder / 'bin'
        bin_dir.mkdir()
        (bin_dir / 'sleep').write_text('#!/bin/sh\nexit 0\n') # the pauses are for others
        (bin_dir / 'sleep').chmod(0o755)
        zipfile.ZipFile(DEMO).extractall(folder)
        shop = folder / 'Shop.dSYM'

        def grow(seed, size=3 << 20):
            (shop / 'Contents/Resources/junk.bin').write_bytes(random.Random(seed).randbytes(size))

        def env(port):
            return {'STALLSYM_URL': 'http://127.0.0.1:%d' % port, 'STALLSYM_TOKEN': d.token,
                    'PATH': '%s:%s' % (bin_dir, os.environ['PATH'])}

        def newest():
            return d.get('/v1/symbols/uploads/%d' % max(i['upload_id'] for i in all_objects(d)))

        run(shell, script, ['--piece-size', 'x', shop], env(d.port), 2, '--piece-size')
        run(shell, script, ['--piece-size', '0', shop], env(d.port), 2, '--piece-size')
        # Without faults; a name that JSON and shells could stumble over.
        grow(1)
        run(shell, script, ['--wait', '--piece-size', '1M', '--bundle-id', 'com."a\\b" $x', shop], env(d.port), 0,
            'Shop.dSYM: indexed', '1 sent')
        assert d.get('/v1/symbols')['items'][0]['bundle_id'] == 'com."a\\b" $x'
        assert newest()['state'] == 'indexed'
        # Sent again: its content is known.
        run(shell, script, ['--force', '--piece-size', '1M', '--bundle-id', 'com."a\\b" $x', shop], env(d.port), 0,
            'Shop.dSYM: indexed')

        # A network that breaks most connections somewhere, and a daemon that is killed twice.
        grow(2)

        def kill():
            d.restart(signal.SIGKILL)
            return 0

        proxy = Proxy(d, [None, 700000, None, 0, 0, None, 300000, kill, None, None, 900000, kill, None, None])
        text = run(shell, script, ['--wait', '--piece-size', '1000K', shop], env(proxy.port), 0, 'Shop.dSYM: indexed',
                   'trying again in')
        assert proxy.broken >= 5, (proxy.broken, text)
        proxy.close()

        # A network that is gone for good: the next run goes on where this one ended.
        grow(3)
        proxy = Proxy(d, [None, None, 400000, 0])
        run(shell, script, ['--piece-size', '1M', shop], env(proxy.port), 1, 'again and again', '1 failed')
        proxy.close()
        text = run(shell, script, ['--wait', '--piece-size', '1M', shop], env(d.port), 0, 'bytes are there already',
                   'Shop.dSYM: indexed')
        there = int(re.search(r'(\d+) bytes are there', text).group(1))
        assert there > 1 << 20, there # the first piece, and some of the second

        # What cannot be indexed is said as it is without pieces; --require-all fails.
        cut = folder / 'Cut.dSYM'
        shutil.copytree(shop, cut)
        dwarf = cut / 'Contents/Resources/DWARF/Shop'
        dwarf.write_bytes(dwarf.read_bytes()[:2000])
        run(shell, script, ['--require-all', '--piece-size', '1M', cut], env(d.port), 5, 'Cut.dSYM: refused: ', '1 failed')
        junk = folder / 'junk'
        junk.write_bytes(b'no symbol file' * 10000)
        run(shell, script, ['--piece-size', '64K', junk], env(d.port), 1, 'junk: refused: this is no archive')
        run(shell, script, ['--piece-size', '1M', shop], {**env(d.port), 'STALLSYM_TOKEN': 'wrong'}, 4, 'refused the token')
        assert list((d.folder / 'data/spool').iterdir()) == []


def without_room(shell):
    """A cap is not gone a moment later: whoever reached it is told at once."""
    with tempfile.TemporaryDirectory() as name, Daemon(env={'STALLSYM_SYMBOLS_INDEX_BYTES': '1'}) as d:
        folder = pathlib.Path(name)
        script = folder / 'upload.sh'
        script.write_bytes(d.request('GET', '/upload.sh', token=False).body)
        zipfile.ZipFile(DEMO).extractall(folder)
        env = {'STALLSYM_URL': 'http://127.0.0.1:%d' % d.port, 'STALLSYM_TOKEN': d.token}
        run(shell, script, ['--wait', folder / 'Shop.dSYM'], env, 0, 'Shop.dSYM: indexed')
        (folder / 'Shop.dSYM/Contents/more').write_text('another archive')
        for more in ([], ['--piece-size', '4K']):
            text = run(shell, script, ['--force', *more, folder / 'Shop.dSYM'], env, 1, 'Shop.dSYM: refused: ',
                       'index_bytes')
            assert 'trying again' not in text, text


def all_objects(d):
    return [o for item in d.get('/v1/symbols')['items'] for o in d.get('/v1/symbols/' + item['uuid'])['objects']]


for shell in SHELLS:
    one_shell(shell)
    in_pieces(shell)
    without_room(shell)
print('ok: upload.sh under ' + ', '.join(s[0] for s in SHELLS))
