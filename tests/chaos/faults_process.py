"""The process and the machine around it: kills, stops, its children, its clock, its descriptors."""
import os, pathlib, random, resource, signal, subprocess, time
from load import Load, check_all, check_file, post_all, readiness, ready, wait_for
from shim import FaultyDaemon
from daemon import PROGRAM, Daemon
from traffic import DEMO, body, report

DAY = 86400000


def kill_9(quick):
    """At random instants, short and long rounds, on one growing folder."""
    rounds, loads = 8 if quick else 200, []
    with Daemon() as d:
        for number in range(rounds):
            load = Load(d, 'kill%d' % number, 2)
            loads.append(load)
            time.sleep(random.choice([0.02, 0.1, 0.3, 0.6]) * random.random())
            d.stop(signal.SIGKILL)
            load.end()
            if number % 20 == 0:
                check_file(d)
            d.start()
        line = check_all(d, loads)
        assert 'level=error' not in d.log.read_text()
        return '%d kills; %s' % (rounds, line)


def term_under_load(quick):
    loads, took = [], 0
    with Daemon() as d:
        for number in range(2 if quick else 8):
            load = Load(d, 'term%d' % number)
            loads.append(load)
            wait_for(lambda: len(load.answered) > 50)
            began = time.monotonic()
            assert d.stop() == 0
            took = max(took, time.monotonic() - began)
            load.end()
            check_file(d)
            d.start()
        assert took < 30, took
        assert 'level=error' not in d.log.read_text()
        return 'longest stop %.1f s; %s' % (took, check_all(d, loads))


def two_daemons(quick):
    with Daemon() as d:
        load = Load(d, 'two')
        env = dict(os.environ, STALLSYM_STORAGE_DIR=str(d.folder / 'data'), STALLSYM_HTTP_PORT='0')
        for command in ('run', 'migrate'):
            done = subprocess.run([PROGRAM, command], env=env, capture_output=True, text=True, timeout=30)
            assert done.returncode == 1 and 'in use by another stallsymd' in done.stderr, done
        load.end()
        return check_all(d, [load]) + '; "%s"' % done.stderr.strip().split(': ')[-1][:60]


# --- the indexing process


def children(d):
    found = []
    for task in pathlib.Path('/proc/%d/task' % d.process.pid).iterdir():
        try:
            found += [int(pid) for pid in (task / 'children').read_text().split()]
        except OSError:
            pass
    return found


def stopped_child(d, seconds=20):
    """The next child, caught by the arm while it works."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for pid in children(d):
            try:
                # Behind its filter it has begun; before, its parent takes what happens for the machine's.
                if 'Seccomp:\t2' not in pathlib.Path('/proc/%d/status' % pid).read_text():
                    continue
                os.kill(pid, signal.SIGSTOP)
                return pid
            except OSError:
                pass
    raise AssertionError('no child was seen')


def child_in_trouble(do, words, env=None, quick=False):
    with Daemon(env=env) as d:
        load = Load(d, 'child', 1)
        load.end() # reports first: they wait for these symbols
        for number in range(1 if quick else 4):
            data = DEMO.read_bytes() + b'child %d' % number
            state = None
            for _ in range(8): # an upload may be through before it is caught
                id = d.request('POST', '/v1/symbols', data).json['upload_id']
                try:
                    pid = stopped_child(d, 3)
                except AssertionError:
                    d.request('DELETE', '/v1/symbols/uploads/%s' % id)
                    data += b'.'
                    continue
                do(pid)
                path = '/v1/symbols/uploads/%s' % id
                wait_for(lambda: d.get(path)['state'] in ('indexed', 'failed'))
                state = d.get(path)
                if state['state'] == 'failed':
                    break
                data += b'.'
            assert state and state['state'] == 'failed', state
            reason = str(state)
            assert any(word in reason for word in words), state
            assert 'upload failed' in d.log.read_text()
            assert ready(d)
            answer = d.upload(data) # the same again
            assert answer.status == 200 and answer.json['state'] == 'indexed', answer
        load.uploads = [u for u in load.uploads if d.get('/v1/symbols/uploads/%s' % u)['state'] == 'indexed']
        return check_all(d, [load]) + '; "%s"' % state['reason']


def child_crashes(quick):
    def crash(pid):
        os.kill(pid, signal.SIGSEGV)
        os.kill(pid, signal.SIGCONT)
    return child_in_trouble(crash, ('signal 11',), quick=quick)


def child_killed(quick):
    """By the kernel, when memory runs out: once says nothing about the upload."""
    with Daemon() as d:
        load = Load(d, 'killed', 1)
        load.end()
        for id in load.uploads: # or the children of one of these are killed each time
            wait_for(lambda: d.get('/v1/symbols/uploads/%s' % id)['state'] == 'indexed', 60)
        killed = 0
        for number in range(2 if quick else 6):
            data = DEMO.read_bytes() + b'killed %d' % number
            id = d.request('POST', '/v1/symbols', data).json['upload_id']
            try:
                os.kill(stopped_child(d, 5), signal.SIGKILL)
                killed += 1
            except AssertionError: # it was through before
                pass
            wait_for(lambda: d.get('/v1/symbols/uploads/%s' % id)['state'] in ('indexed', 'failed'), 60)
            load.uploads.append(id)
        assert killed > 0
        assert 'killed; the machine may be short of memory' in d.log.read_text()
        return check_all(d, [load]) + '; %d killed' % killed


def child_hangs(quick):
    return child_in_trouble(lambda pid: None, ('longer than',), {'STALLSYM_SYMBOLS_CHILD_WALL_S': '1'},
                            quick)


def child_out_of_memory(quick):
    """Limits from nothing to almost enough: said with a reason; with more the same upload is indexed."""
    said = set()
    with Daemon() as d:
        load = Load(d, 'memory', 1)
        load.end()
        for id in load.uploads:
            wait_for(lambda: d.get('/v1/symbols/uploads/%s' % id)['state'] == 'indexed')
        for number, limit in enumerate(['1M'] if quick else ['64K', '256K', '512K', '1M', '2M', '3M']):
            data = DEMO.read_bytes() + b'memory %d' % number
            assert d.stop() == 0
            d.env['STALLSYM_SYMBOLS_CHILD_DATA_BYTES'] = limit
            d.start()
            answer = d.upload(data)
            assert answer.status in (200, 422), answer
            if answer.status == 422:
                assert answer.json['reason'] and 'upload failed' in d.log.read_text(), answer
                said.add(answer.json['reason'])
            assert ready(d)
            assert d.stop() == 0
            del d.env['STALLSYM_SYMBOLS_CHILD_DATA_BYTES']
            d.start()
            answer = d.upload(data)
            assert answer.status == 200 and answer.json['state'] == 'indexed', answer
        assert any('emory' in reason for reason in said), said
        return check_all(d, [load]) + '; "%s"' % '", "'.join(sorted(said))


# --- the clock


def clock_jumps(quick):
    """Forward and back by a day and a year while reports come; then right again."""
    with FaultyDaemon(env={'STALLSYM_RETENTION_INTERVAL_MS': '100'}) as d:
        loads = []
        for number, days in enumerate((1, 0, -1, 365, 0, -365, 0)):
            d.faults.set(clock_ms=days * DAY)
            load = Load(d, 'clock%d' % number, 2)
            loads.append(load)
            wait_for(lambda: len(load.answered) > 50)
            time.sleep(0.3)
            load.end()
            assert ready(d)
            answered = [x.sent[id] for x in loads for id in x.answered]
            assert post_all(d, answered) == (0, len(answered)), 'after a jump to %+d days' % days
        assert 'msg="the clock was set ahead' in d.log.read_text(), 'nothing in the log'
        return check_all(d, loads)


def clock_back_under_load(quick):
    """Steps of hours, forward and back, many a second, over midnights."""
    with FaultyDaemon(env={'STALLSYM_RETENTION_INTERVAL_MS': '100'}) as d:
        load = Load(d, 'steps')
        wait_for(lambda: len(load.answered) > 50)
        for _ in range(15 if quick else 100):
            d.faults.set(clock_ms=random.randint(-30, 30) * 3600000)
            time.sleep(0.05)
        d.faults.set(clock_ms=0)
        load.end()
        return check_all(d, [load])


# --- descriptors


def no_descriptors(quick):
    """None are left, by the limit of the process; then there are again."""
    with Daemon() as d:
        load = Load(d, 'descriptors')
        wait_for(lambda: len(load.answered) > 100)
        for _ in range(1 if quick else 3):
            limits = resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE)
            used = len(os.listdir('/proc/%d/fd' % d.process.pid))
            resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE, (max(used - 4, 20), limits[1]))
            time.sleep(1.5)
            assert d.process.poll() is None, 'it died'
            resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE, limits)
            before = len(load.answered)
            wait_for(lambda: len(load.answered) > before + 40, 60, 'takes no reports again')
        load.end()
        assert 'descriptor' in d.log.read_text() or 'open files' in d.log.read_text(), \
            'nothing in the log'
        return check_all(d, [load], (500, 503))
