#!/usr/bin/env python3
"""A database that the first released schema wrote (tests/fixtures/first-schema.db.gz: 200 reports of
traffic.report, one of another app, a dSYM, two tokens) is brought to the newest one at start:
all of it is there, goes on growing, and a copy of the old file is kept. A newer one is refused."""
import contextlib, gzip, hashlib, os, pathlib, re, shutil, sqlite3, subprocess, sys, tempfile, time, zipfile

sys.path.insert(0, os.path.dirname(__file__))
from daemon import PROGRAM, Daemon
from traffic import APP, DEMO, SHOP, body, has_stack, report

FIXTURE = pathlib.Path(__file__).parent.parent / 'fixtures/first-schema.db.gz'
NEWEST = max(int(p.name[:4]) for p in pathlib.Path('sql/sqlite').glob('0*.sql'))
ENV = {'STALLSYM_RETENTION_REPORT_DAYS': '3650', 'STALLSYM_CLUSTERS_EPOCHS': 'no'}
IDS = ['first-%d' % i for i in range(120)] + ['late-%d' % i for i in range(80)]


def version(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
        assert db.execute('PRAGMA foreign_key_check').fetchall() == []
        return db.execute('PRAGMA user_version').fetchone()[0]


def everything_is_there(d):
    deadline = time.monotonic() + 20 # the index is made anew from the object
    while d.get('/v1/stats')['symbol_files'] == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    stats = d.settle()
    assert (stats['apps'], stats['reports'], stats['stacks'], stats['symbol_files']) == (2, 201, 226, 1), stats
    for id in IDS:
        sent, got = report(id), d.get('/v1/reports/%s?bundle_id=%s' % (id, APP))
        for key in ('kind', 'duration_ms', 'page', 'app_version', 'build', 'os_version'):
            shown = got.get(key, got.get('version') if key == 'app_version' else None)
            assert shown == sent[key], (id, key, got)
    clusters = d.all_items('/v1/clusters?include_hidden=1&bundle_id=' + APP)
    counted, sent = sum(c['count'] for c in clusters), sum(has_stack(report(id)) for id in IDS)
    assert counted == sent, (counted, sent)
    for c in clusters:
        one = d.get('/v1/clusters/%d' % c['id'])
        assert one['stacks'] and one['count'] == c['count'], one
        d.get('/v1/clusters/%d/history' % c['id'])
    assert any(c['function'] and c['file'] for c in clusters), clusters
    by_version = d.get('/v1/breakdown?by=version&bundle_id=' + APP)['items']
    assert sum(v['count'] for v in by_version) == 200, by_version
    assert [s['uuid'] for s in d.get('/v1/symbols')['items']] == [SHOP]
    missing = d.get('/v1/symbols/missing')['items']
    assert missing and missing[0]['name'] == 'Ads', missing
    tokens = {t['name']: t for t in d.get('/v1/admin/tokens')['items']}
    assert tokens['reader']['scopes'] == ['read'] and tokens['reader']['bundle_id'] == APP, tokens
    for path in ('/v1/flamegraph?format=folded&bundle_id=' + APP, '/v1/trends?by=day&bundle_id=' + APP,
                 '/v1/compare?version=1.0&compare_version=1.1&bundle_id=' + APP):
        answer = d.request('GET', path)
        assert answer.status == 200, (path, answer)


def keep_object(data):
    """The one file beside the database that it names: the dSYM's object."""
    with zipfile.ZipFile(DEMO) as z:
        member = z.read(next(n for n in z.namelist() if '/DWARF/' in n and not n.endswith('/')))
    name = hashlib.sha256(member).hexdigest()
    place = data / 'objects' / name[:2] / name
    place.parent.mkdir(parents=True)
    place.write_bytes(member)


def upgraded():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='stallsym-test-'))
    try:
        data = folder / 'data'
        data.mkdir()
        database = data / 'stallsym.db'
        database.write_bytes(gzip.decompress(FIXTURE.read_bytes()))
        assert version(database) == 1
        keep_object(data)
        with Daemon(folder, ENV) as d:
            everything_is_there(d)
            # It goes on: a known report is known, a new one counts, the dSYM is taken again.
            again = d.post_reports(body([report('new-%d' % i) for i in range(50)]), status=202).json
            assert again['accepted'] == 50, again
            d.upload(DEMO, status=200)
            stats = d.settle()
            assert stats['reports'] == 251, stats
            assert d.stop() == 0
            log = d.log.read_text()
            assert 'level=error' not in log, log
            told = re.findall(r'database upgraded.*', log)
            assert len(told) == 1 and 'from=1 to=%d' % NEWEST in told[0] and 'before-2' in told[0], log
        assert version(database) == NEWEST
        copies = [p.name for p in data.glob('*.before-*')]
        assert copies == ['stallsym.db.before-2'], copies # one, of the state before all of it
        assert version(data / copies[0]) == 1
        with Daemon(folder, ENV) as d:
            assert d.settle()['reports'] == 251
            assert d.stop() == 0
            assert d.log.read_text().count('database upgraded') == 1
        by_command(folder)
        newer(folder, database)
    finally:
        shutil.rmtree(folder)


def migrate(data):
    done = subprocess.run([PROGRAM, 'migrate'], env={**os.environ, 'STALLSYM_STORAGE_DIR': str(data)},
                          capture_output=True, text=True, timeout=60, umask=0o022)
    assert done.returncode == 0, done
    return done.stdout


def by_command(folder):
    """The same by `migrate`, which says what is so."""
    data = folder / 'other'
    assert migrate(data) == 'a new database, schema %d\n' % NEWEST
    assert migrate(data) == 'schema %d, nothing to do\n' % NEWEST
    assert (data / 'stallsym.db').stat().st_mode & 0o777 == 0o640
    (data / 'stallsym.db').write_bytes(gzip.decompress(FIXTURE.read_bytes()))
    copy = data.resolve() / 'stallsym.db.before-2'
    assert migrate(data) == 'schema 1 -> %d, the database as it was is kept as %s\n' % (NEWEST, copy)
    assert version(data / 'stallsym.db') == NEWEST and version(copy) == 1
    assert copy.stat().st_mode & 0o777 == 0o640, 'reports are nobody else\'s'


def newer(folder, database):
    """The same file with a schema of tomorrow: refused with words, and left as it is."""
    with contextlib.closing(sqlite3.connect(database)) as db:
        db.execute('PRAGMA user_version = %d' % (NEWEST + 1))
        db.commit()
    before = database.read_bytes()
    env = {**os.environ, **ENV, 'STALLSYM_STORAGE_DIR': str(folder / 'data'), 'STALLSYM_HTTP_PORT': '0'}
    done = subprocess.run([PROGRAM, 'run'], env=env, capture_output=True, text=True, timeout=30)
    assert done.returncode != 0 and re.search(
        'written by a newer program: it has schema %d, this one knows up to %d' % (NEWEST + 1, NEWEST),
        done.stderr), done
    assert database.read_bytes() == before


upgraded()
