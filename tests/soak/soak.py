#!/usr/bin/env python3
"""A daemon that lives for long: soak.py SECONDS [LOG]. The real program under all kinds of traffic
(clients.py), while its clock runs a day a minute, so that retention, nightly epochs, backups and
forgotten ids come by many times. Every 30 s a line of what it holds; at the end the lines of the
last half are judged: nothing may grow. Prints the table, and writes it to LOG."""
import os, pathlib, sqlite3, sys, threading, time
here = pathlib.Path(__file__).parent
sys.path[:0] = [str(here), str(here.parent / 'chaos'), str(here.parent / 'e2e')]
from shim import FaultyDaemon # first: it makes tests/e2e importable
from clients import Clients
from load import check_file

DAY_MS = 86400 * 1000
DAYS_PER_S = 1 / 60
SETTINGS = {'STALLSYM_RETENTION_REPORT_DAYS': '2', 'STALLSYM_RETENTION_IMAGE_SET_DAYS': '2',
            'STALLSYM_RETENTION_OBJECT_DAYS': '2', 'STALLSYM_ALERTS_ALLOW_PRIVATE': 'yes',
            'STALLSYM_ALERTS_INTERVAL_MS': '2000', 'STALLSYM_ALERTS_KEEP_DAYS': '2',
            'STALLSYM_SYMBOLS_FRAME_CACHE': '2048', # as others of that size, full within minutes
            'STALLSYM_BACKUP_KEEP': '3', 'STALLSYM_CLUSTERS_EPOCH_STACKS_MIN': '10'}
# How much the straight line through the last half may rise in it, in the column's unit.
COLUMNS = {'s': None, 'day': None, 'rss_kb': 4096, 'anon_kb': 4096, 'fds': 3, 'threads': 1,
           'db_kb': None, 'wal_kb': None, 'spool': 3, 'work': 2, 'cpu_s': None, 'reports': None,
           'stacks': None, 'answers': None, 'refused': None, 'wrong': None}
# Half of [storage] wal_high_bytes: then the writer empties the log, and keeps 64 MB for the next.
WAL_KB_MAX = 512 * 1024 + 65536
SHORT_S = 600 # below it nothing has settled: memory is printed, not judged


def files_below(folder):
    return sum(len(files) for _, _, files in os.walk(folder))


def kb(path):
    return path.stat().st_size // 1024 if path.exists() else 0


def sample(d, clients, began):
    status = dict(line.split(':', 1) for line in
                  pathlib.Path('/proc/%d/status' % d.process.pid).read_text().splitlines())
    used = pathlib.Path('/proc/%d/stat' % d.process.pid).read_text().rsplit(')', 1)[1].split()
    stats, data = d.get('/v1/stats?fresh=true'), d.folder / 'data'
    return {'s': int(time.monotonic() - began), 'day': d.faults.get('clock_ms') // DAY_MS,
            'rss_kb': int(status['VmRSS'].split()[0]), 'anon_kb': int(status['RssAnon'].split()[0]),
            'fds': len(os.listdir('/proc/%d/fd' % d.process.pid)),
            'threads': int(status['Threads']), 'db_kb': kb(data / 'stallsym.db'),
            'wal_kb': kb(data / 'stallsym.db-wal'), 'spool': files_below(data / 'spool'),
            'work': sum(1 for _ in (data / 'work').iterdir()) if (data / 'work').exists() else 0,
            'cpu_s': (int(used[11]) + int(used[12])) // os.sysconf('SC_CLK_TCK'),
            'reports': stats['reports'], 'stacks': stats['stacks'],
            'answers': sum(clients.answers.values()), 'refused': clients.refused,
            'wrong': sum(clients.wrong.values())}


def rise(rows, column):
    """Of the straight line of least squares, from the first of the rows to the last."""
    xs, ys = [row['s'] for row in rows], [row[column] for row in rows]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    square = sum((a - x) ** 2 for a in xs)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys)) / square if square else 0
    return slope * (xs[-1] - xs[0])


def judge(rows, seconds):
    half, bad = rows[len(rows) // 2:], []
    for column, most in COLUMNS.items():
        if most is None:
            continue
        grown = rise(half, column)
        judged = seconds >= SHORT_S or not column.endswith('_kb')
        ok = grown <= most or not judged
        yield '%-8s %+9.1f in the last %d s, %d allowed: %s' % (
            column, grown, half[-1]['s'] - half[0]['s'], most,
            ('ok' if ok else 'GROWS') if judged else 'too short to judge')
        if not ok:
            bad.append(column)
    wal = max(row['wal_kb'] for row in rows)
    yield 'wal_kb   %9d at most, %d allowed: %s' % (wal, WAL_KB_MAX, 'ok' if wal <= WAL_KB_MAX else 'GROWS')
    bad += ['wal_kb'] if wal > WAL_KB_MAX else []
    assert not bad, 'grows: ' + ' '.join(bad)


def turn_clock(d, began, over):
    while not over.wait(0.5):
        d.faults.set(clock_ms=int((time.monotonic() - began) * DAYS_PER_S * DAY_MS))


def soak(seconds, say):
    with FaultyDaemon(env=SETTINGS) as d:
        began, over = time.monotonic(), threading.Event()
        clock = threading.Thread(target=turn_clock, args=(d, began, over))
        clock.start()
        clients, rows = Clients(d, float(os.environ.get('PACE', '1'))), []
        step = min(30, max(1, seconds // 20))
        say(' '.join('%8s' % name for name in COLUMNS))
        while time.monotonic() - began < seconds:
            time.sleep(max(0, min((len(rows) + 1) * step, seconds) - (time.monotonic() - began)))
            rows.append(sample(d, clients, began))
            say(' '.join('%8d' % rows[-1][name] for name in COLUMNS))
        clients.end()
        over.set()
        clock.join()
        for what, n in clients.wrong.most_common(20):
            say('wrong: %d x %s' % (n, what))
        log = d.log.read_text()
        say('answers: %s; %d texts named; %d alerts taken; %d errors in the log' % (
            ' '.join('%d: %d' % x for x in sorted(clients.answers.items())), clients.known,
            clients.webhook.taken, log.count('level=error')))
        for line in [line for line in log.splitlines() if 'level=error' in line][:10]:
            say('  ' + line)
        assert d.stop() == 0
        check_file(d, expired=True)
        say('stopped with status 0; the database is whole, its sums are equal')
        for line in judge(rows, seconds):
            say(line)
        assert not clients.wrong and clients.known and clients.webhook.taken
        assert 'level=error' not in log


def main(seconds, path=None):
    log = open(path, 'w') if path else None

    def say(line):
        print(line, flush=True)
        if log:
            print(line, file=log, flush=True)
    try:
        soak(seconds, say)
    except AssertionError as e:
        say('FAILED: %s' % (e or 'see above'))
        return 1
    say('flat')
    return 0


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:3]))
