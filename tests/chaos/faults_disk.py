"""The disk: full, read-only, broken."""
import errno, os, pathlib, random, signal, subprocess, tempfile, time
from load import Load, check_all, readiness, ready, wait_for
from shim import FaultyDaemon
from daemon import Daemon
from faults_files import Sent, new_stacks, refused_start
from traffic import DEMO


def during(d, load, seen, **fault):
    """The fault until it was told, and a second more."""
    before = len(d.log.read_text())
    d.faults.set(**fault)
    try:
        wait_for(lambda: not ready(d), 60, '/readyz says nothing of it')
        words = readiness(d).json['detail']
        time.sleep(1)
        assert d.process.poll() is None, 'it died'
        log = d.log.read_text()[before:]
        assert 'level=error' in log or 'level=warn' in log, 'nothing in the log'
        for word in seen:
            assert word in log, (word, log[-1000:])
    finally:
        hits = d.faults.get('hits')
        d.faults.clear()
    assert hits > 0
    wait_for(lambda: ready(d), 60, 'not ready again')
    before = len(load.answered)
    wait_for(lambda: len(load.answered) > before + 40, 60, 'takes no reports again')
    return words


def under_load(faults, seen=(), env=None):
    with FaultyDaemon(env=env) as d:
        load = Load(d, 'disk')
        wait_for(lambda: len(load.answered) > 100)
        try:
            for fault in faults:
                words = during(d, load, seen, **fault)
        finally:
            load.end()
        return check_all(d, [load], (500, 503)) + '; "%s"' % words


def eio_wal(quick):
    return under_load([dict(path='stallsym.db-wal', write_errno=errno.EIO),
                       dict(path='stallsym.db-wal', sync_errno=errno.EIO),
                       dict(path='stallsym.db-wal', read_errno=errno.EIO,
                            write_errno=errno.EIO)][:1 if quick else 3])


def eio_database(quick):
    """The file and its log; checkpoints come often here."""
    env = {'STALLSYM_STORAGE_CHECKPOINT_BYTES': '64K', 'STALLSYM_RETENTION_INTERVAL_MS': '100'}
    return under_load([dict(path='stallsym.db', write_errno=errno.EIO),
                       dict(path='stallsym.db', sync_errno=errno.EIO)], (), env)


def eio_checkpoint(quick):
    """The file alone fails, its log does not: reports go on, and it is said."""
    env = {'STALLSYM_STORAGE_CHECKPOINT_BYTES': '64K', 'STALLSYM_RETENTION_INTERVAL_MS': '100'}
    with FaultyDaemon(env=env) as d:
        load = Load(d, 'checkpoint')
        for fault in ('write_errno', 'sync_errno'):
            before = len(load.answered)
            wait_for(lambda: len(load.answered) > before + 100)
            said = len(d.log.read_text())
            d.faults.set(path='stallsym.db$', **{fault: errno.EIO})
            wait_for(lambda: 'what=checkpoint' in d.log.read_text()[said:],
                     what='nothing in the log')
            wait_for(lambda: readiness(d).json.get('problems'), what='/readyz says nothing of it')
            words = readiness(d).json['problems']
            before = len(load.answered)
            wait_for(lambda: len(load.answered) > before + 40, what='takes no reports')
            d.faults.clear()
            wait_for(lambda: readiness(d).json.get('problems') == [], what='the problem stays')
        load.end()
        return check_all(d, [load]) + '; %s' % words


def symbol_place(path, quick):
    """Spool or symbol store fail: uploads are refused or wait, reports go on, /readyz says it."""
    with FaultyDaemon() as d:
        load = Load(d, 'store')
        wait_for(lambda: len(load.answered) > 100)
        d.faults.set(path=path, write_errno=errno.EIO, sync_errno=errno.EIO)
        extra = DEMO.read_bytes() + path.encode()
        wait_for(lambda: readiness(d).json.get('problems'), 60, '/readyz says nothing of it')
        words = readiness(d).json['problems']
        answer = d.request('POST', '/v1/symbols', extra)
        assert answer.status in (202, 500, 503), answer
        before = len(load.answered)
        wait_for(lambda: len(load.answered) > before + 40, 60, 'takes no reports')
        assert 'level=warn' in d.log.read_text() or 'level=error' in d.log.read_text()
        d.faults.clear()
        wait_for(lambda: not readiness(d).json.get('problems'), 60, 'the problem stays')
        assert d.request('POST', '/v1/symbols?wait=1', extra).status in (200, 202)
        load.end()
        return check_all(d, [load], (500, 503)) + '; %s' % words


def eio_read(quick):
    """Pages that the disk does not give are told until a whole check finds nothing."""
    with FaultyDaemon() as d:
        load = Load(d, 'read')
        wait_for(lambda: len(load.answered) > 100)
        before = len(d.log.read_text())
        d.faults.set(path='stallsym.db$', read_errno=errno.EIO)
        # SQLite takes an error of the disk for damage of the file system.
        wait_for(lambda: any(w in readiness(d).body for w in (b'cannot be read', b'is damaged')), 60,
                 '/readyz says nothing of it')
        words = readiness(d).json.get('problems') or readiness(d).json['detail']
        assert d.process.poll() is None, 'it died'
        wait_for(lambda: 'level=error msg="database ' in d.log.read_text()[before:], 60,
                 'nothing in the log')
        assert d.faults.get('hits') > 0
        d.faults.clear()
        wait_for(lambda: ready(d) and not readiness(d).json['problems'], 60, 'the problem stays')
        before = len(load.answered)
        wait_for(lambda: len(load.answered) > before + 40, 60, 'takes no reports again')
        load.end()
        return check_all(d, [load], (500, 503)) + '; %s' % words


def eio_spool(quick):
    return symbol_place('/spool/', quick)


def eio_symbol_store(quick):
    return symbol_place('/symbols/', quick)


class Volume:
    """A small file system of its own, where one may be mounted."""

    def __init__(self, size='96m'):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix='stallsym-chaos-'))
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=' + size, 'stallsym-chaos',
                               str(self.path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.mounted = done.returncode == 0

    def remount(self, options):
        return subprocess.run(['mount', '-o', 'remount,' + options, str(self.path)],
                              stderr=subprocess.DEVNULL).returncode == 0

    def __enter__(self):
        return self

    def __exit__(self, *what):
        if self.mounted:
            subprocess.run(['umount', '-l', str(self.path)])
        self.path.rmdir()


def on_a_volume(begin, end, quick):
    with Volume() as v:
        if not v.mounted:
            return None
        env = {'STALLSYM_STORAGE_DIR': str(v.path / 'data'),
               'STALLSYM_SYMBOLS_FREE_BYTES_MIN': '1M'}
        with FaultyDaemon(env=env) as d:
            (d.folder / 'data').symlink_to(v.path / 'data')
            loads = [Load(d, 'volume')]
            wait_for(lambda: len(loads[0].answered) > 100)
            for _ in range(1 if quick else 3):
                if not begin(d, v):
                    loads[0].end()
                    return None
                wait_for(lambda: not ready(d), 60, '/readyz says nothing of it')
                words = readiness(d).json['detail']
                wait_for(lambda: 'commit failed' in d.log.read_text(), 60, 'nothing in the log')
                time.sleep(0.5)
                end(d, v)
                wait_for(lambda: ready(d), 60, 'not ready again')
                before = len(loads[0].answered)
                wait_for(lambda: len(loads[0].answered) > before + 40, 60, 'takes no reports again')
            loads[0].end()
            return check_all(d, loads, (500, 503)) + '; "%s"' % words


def disk_full(quick):
    """A tmpfs that something else fills."""
    def begin(d, v):
        with open(v.path / 'ballast', 'wb') as file:
            try:
                while True:
                    os.write(file.fileno(), bytes(1 << 20))
            except OSError as e:
                assert e.errno == errno.ENOSPC
        return True

    def end(d, v):
        (v.path / 'ballast').unlink()

    outcome = on_a_volume(begin, end, quick)
    return outcome or under_load([dict(path='/data/', write_errno=errno.ENOSPC)]) + ' (shim)'


def read_only_start(quick):
    """A folder on a volume that is mounted read-only: said at the start, nothing is changed."""
    with Volume() as v:
        if not v.mounted:
            return 'not run: nothing can be mounted here'
        with Daemon(env={'STALLSYM_STORAGE_DIR': str(v.path / 'data')}) as d:
            (d.folder / 'data').symlink_to(v.path / 'data')
            sent = new_stacks(d, 'volume')
            d.settle()
            d.stop()
            assert v.remount('ro')
            line = refused_start(d, ('Read-only', 'cannot be written', 'cannot open'))
            assert v.remount('rw')
            d.start()
            return check_all(d, [Sent(sent)]) + '; "%s"' % line.split('run: ')[-1][-80:]


def read_only(quick):
    """As after an error of the file system: what is open fails, too."""
    return under_load([dict(path='/data/', write_errno=errno.EROFS, sync_errno=errno.EROFS,
                            open_errno=errno.EROFS)])


def slow(quick):
    """A sync takes two seconds: it is said, reports wait or are sent away, nothing else stands still."""
    with FaultyDaemon() as d:
        load = Load(d, 'slow')
        wait_for(lambda: len(load.answered) > 100)
        log, before = len(d.log.read_text()), len(load.answered)
        d.faults.set(path='/data/', sync_ms=2000)
        wait_for(lambda: 'commits are slow' in d.log.read_text()[log:], 30, 'nothing in the log')
        began, asked = time.monotonic(), 0
        while time.monotonic() < began + (3 if quick else 10):
            at = time.monotonic()
            assert d.request('GET', '/healthz', token=False).status == 200
            words = readiness(d).json
            d.get('/v1/clusters')
            assert time.monotonic() - at < 1.5, 'reads wait for the disk'
            asked += 1
            time.sleep(0.1)
        told = words.get('problems') or words.get('detail')
        assert told, '/readyz says nothing of it'
        assert len(load.answered) > before, 'takes no reports'
        d.faults.clear()
        wait_for(lambda: ready(d) and not readiness(d).json['problems'], 60, 'the problem stays')
        load.end()
        return check_all(d, [load]) + '; %s' % told


def short_writes(quick):
    """Each write takes half of what it is given, as a signal or a quota may do: nobody notices."""
    with FaultyDaemon() as d:
        load = Load(d, 'short')
        wait_for(lambda: len(load.answered) > 100)
        d.faults.set(path='/data/', write_part=1)
        time.sleep(0.5 if quick else 3)
        assert d.faults.get('hits') > 0
        d.faults.clear()
        load.end()
        assert 'level=error' not in d.log.read_text()
        return check_all(d, [load])


def power_cut(quick):
    """A kill, and of the log is left what was synced: what was answered for is in it."""
    cut, loads = [], []
    with FaultyDaemon() as d:
        d.faults.set(watch_log=1)
        for number in range(3 if quick else 25):
            load = Load(d, 'power%d' % number, 2)
            loads.append(load)
            time.sleep(0.1 + 0.4 * random.random())
            d.stop(signal.SIGKILL)
            load.end()
            log, synced = d.folder / 'data/stallsym.db-wal', d.faults.get('log_synced')
            cut.append(max(0, d.faults.get('log_written') - synced))
            size = log.stat().st_size
            with open(log, 'r+b') as file:
                file.seek(synced)
                file.write(random.choice([bytes, random.randbytes])(max(0, size - synced)))
                if random.random() < 0.5:
                    file.truncate(synced)
            d.start()
        return 'up to %d bytes cut; %s' % (max(cut), check_all(d, loads))
