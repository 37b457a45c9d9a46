"""What a daemon does now and then, disturbed: migrations, backups, retention."""
import errno, gzip, os, pathlib, random, shutil, signal, sqlite3, subprocess, time
from load import Load, check_all, check_file, post_all, wait_for
from shim import FaultyDaemon
from daemon import PROGRAM, Daemon
from traffic import APP, report

FIRST = pathlib.Path(__file__).parent.parent / 'fixtures/first-schema.db.gz' # see e2e/test_upgrade.py
NEWEST = max(int(p.name[:4]) for p in FIRST.parents[2].glob('sql/sqlite/0*.sql'))
DAY = 86400000


# --- migrations


def version(path):
    base = sqlite3.connect(path)
    try:
        assert base.execute('PRAGMA integrity_check').fetchall() == [('ok',)], path
        assert base.execute('PRAGMA foreign_key_check').fetchall() == [], path
        return base.execute('PRAGMA user_version').fetchone()[0]
    finally:
        base.close()


class Old(FaultyDaemon):
    """A folder with a database of the first schema."""

    def __init__(self):
        super().__init__(env={'STALLSYM_RETENTION_REPORT_DAYS': '3650'})
        self.base = self.folder / 'data/stallsym.db'
        self.base.parent.mkdir()
        self.base.write_bytes(gzip.decompress(FIRST.read_bytes()))
        shutil.copy(self.base, self.folder / 'first.db')

    def __enter__(self):
        return self

    def migrate(self):
        env = {**os.environ, **self.env, 'STALLSYM_STORAGE_DIR': str(self.folder / 'data')}
        return subprocess.Popen([PROGRAM, 'migrate'], env=env, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def again(self):
        for p in self.base.parent.glob('stallsym.db*'):
            p.unlink()
        shutil.copy(self.folder / 'first.db', self.base)


def brought_up(d):
    """The daemon starts, everything is there, a copy of the old file is whole."""
    d.start()
    stats = d.settle()
    assert (stats['apps'], stats['reports']) == (2, 201), stats
    assert d.stop() == 0
    check_file(d)
    copies = [p for p in d.base.parent.glob('stallsym.db.before-*') if not p.name.endswith(('-wal', '-shm'))]
    assert copies and all(version(p) < version(d.base) for p in copies), copies


def migration_killed(quick):
    """At random instants of it: the next start ends it."""
    rounds = 3 if quick else 25
    with Old() as d:
        began = time.monotonic()
        assert d.migrate().wait() == 0
        took = time.monotonic() - began
        seen = set()
        for number in range(rounds):
            d.again()
            for _ in range(2):
                process = d.migrate()
                time.sleep(took * random.uniform(0.1, 1.0))
                process.kill()
                process.wait()
                process.stderr.close()
            seen.add(version(d.base))
            if number % 5 == 0:
                brought_up(d)
        brought_up(d)
        assert min(seen) < NEWEST or quick, seen
        return '%d kills, %.0f ms long; found at schema %s' % (2 * rounds, took * 1000, sorted(seen))


def migration_disk_full(quick):
    """No room after so many bytes, wherever they go: refused and said; with room it goes on."""
    refused, said = 0, ''
    with Old() as d:
        rooms = [4096] if quick else [1, 5000, 40000, 200000, 400000, 600000, 800000, 1200000, 2000000]
        for room in rooms:
            d.again()
            d.faults.set(path='/stallsym.db', write_room=room, write_errno=errno.ENOSPC)
            process = d.migrate()
            words = process.communicate(timeout=60)[1]
            d.faults.clear()
            if process.returncode == 0:
                continue
            refused += 1
            said = words.strip().split('\n')[-1]
            assert 'full' in said or 'No space' in said, said
            assert version(d.base) < NEWEST # whole, as it was or some migrations further
            brought_up(d)
        assert refused > 0
        return '%d of %d refused; "%s"' % (refused, len(rooms), said[-90:])


# --- backups


def backup_killed(quick):
    """Half a backup is none, and in nobody's way; those that are listed can be started from."""
    with Daemon() as d:
        loads, kills = [], 0
        for number in range(2 if quick else 8):
            load = Load(d, 'backup%d' % number, 2)
            loads.append(load)
            wait_for(lambda: len(load.answered) > 30)
            answer = d.request('POST', '/v1/admin/backup')
            assert answer.status == 202, answer
            time.sleep(random.choice([0.001, 0.01, 0.05, 0.2]) * random.random())
            d.stop(signal.SIGKILL)
            load.end()
            d.start()
            states = [b['state'] for b in d.get('/v1/admin/backups')['items']]
            assert 'running' not in states, states
        answer = d.request('POST', '/v1/admin/backup')
        assert answer.status == 202, answer
        id = answer.json['id']

        def one():
            return [b for b in d.get('/v1/admin/backups')['items'] if b['id'] == id][0]
        wait_for(lambda: one()['state'] != 'running')
        assert one()['state'] == 'done', one()
        places = [p for p in (d.folder / 'data/backups').iterdir()]
        assert places and not [p for p in places if p.name.startswith('.')], places
        for place in places:
            with Daemon() as copy:
                copy.stop()
                shutil.rmtree(copy.folder / 'data')
                shutil.copytree(place, copy.folder / 'data')
                copy.start()
                copy.settle()
                assert copy.stop() == 0
                check_file(copy)
        shutil.rmtree(d.folder / 'data/backups')
        line = check_all(d, loads)
        return '%d backups listed; %s' % (len(places), line)


# --- retention


def raw_reports(d):
    base = sqlite3.connect(d.folder / 'data/stallsym.db', timeout=20)
    try:
        return base.execute('SELECT count(*) FROM reports').fetchone()[0]
    finally:
        base.close()


def retention_killed(quick):
    """Reports go by age while it is killed: none of what they are counted in goes with them."""
    sent = [report('old-%d' % i) for i in range(500 if quick else 5000)]
    with FaultyDaemon(env={'STALLSYM_RETENTION_INTERVAL_MS': '10'}) as d:
        post_all(d, sent)
        d.settle()
        d.stop()
        d.faults.set(clock_ms=60 * DAY)
        left, most, rounds = {len(sent)}, 0.3, 0
        while rounds < (2 if quick else 12) or left == {len(sent)} and rounds < 30 and not quick:
            rounds += 1
            d.start()
            time.sleep(most * random.random())
            most *= 1.4 if left == {len(sent)} else 1 # a busy machine is slow to begin
            d.stop(signal.SIGKILL)
            check_file(d, expired=True)
            left.add(raw_reports(d))
        d.start()
        wait_for(lambda: raw_reports(d) == 0, 60, 'reports stay')
        rows = d.get('/v1/breakdown?limit=1000&by=version&bundle_id=%s&since=946684800000' % APP)['items']
        assert sum(x['count'] for x in rows) == len(sent), rows
        assert d.stop() == 0
        check_file(d, expired=True)
        assert len(left) > 1 or quick, left
        return '%d kills; of %d reports were left: %s' % (rounds, len(sent), sorted(left))
