"""The data folder under somebody's hand while the daemon runs: moved, removed, its files cut."""
import os, shutil, signal, time
from load import Load, check_all, readiness, ready, wait_for
from daemon import Daemon
from traffic import DEMO


def told(d, before, words):
    """Not ready, in /readyz and in the log; and nothing is answered for any more."""
    wait_for(lambda: readiness(d).status == 503, 20, '/readyz says nothing of it')
    wait_for(lambda: any(w in d.log.read_text()[before:] for w in words), 20, 'nothing in the log')
    assert d.process.poll() is None, 'it died'


def refused(d, load):
    time.sleep(0.2) # what was under way
    before = len(load.answered)
    time.sleep(0.5)
    assert len(load.answered) == before, 'reports are answered for that are lost'


def folder_moved(quick):
    """Away, and back: nothing is answered for meanwhile, and it goes on by itself."""
    with Daemon() as d:
        load = Load(d, 'moved')
        for _ in range(1 if quick else 3):
            before, log = len(load.answered), len(d.log.read_text())
            wait_for(lambda: len(load.answered) > before + 100)
            (d.folder / 'data').rename(d.folder / 'away')
            told(d, log, ['moved or removed'])
            refused(d, load)
            words = readiness(d).json['detail']
            (d.folder / 'away').rename(d.folder / 'data')
            wait_for(lambda: ready(d), 60, 'not ready again')
        before = len(load.answered)
        wait_for(lambda: len(load.answered) > before + 40, 60, 'takes no reports again')
        load.end()
        d.restart() # files that could not be removed where they were go
        # 410: an object's file that was not there.
        return check_all(d, [load], (410, 500, 503)) + '; "%s"' % words


def folder_removed(quick):
    """For good: told, nothing is answered for any more; the next start begins anew."""
    with Daemon() as d:
        load = Load(d, 'removed')
        wait_for(lambda: len(load.answered) > 100)
        log = len(d.log.read_text())
        while (d.folder / 'data').exists(): # uploads make files while it goes
            shutil.rmtree(d.folder / 'data', ignore_errors=True)
        told(d, log, ['moved or removed'])
        refused(d, load)
        load.end()
        assert not set(load.refused) - {410, 500, 503}, load.refused
        assert d.stop() == 0
        d.start()
        again = Load(d, 'again')
        wait_for(lambda: len(again.answered) > 100)
        again.end()
        return '%d answered before; ' % len(load.answered) + check_all(d, [again])


def log_of(d):
    return d.folder / 'data/stallsym.db-wal'


def wal_unlinked(quick):
    """The log's name is gone, its bytes are not: they are brought home, nothing is lost."""
    loads = []
    for how in (signal.SIGTERM, signal.SIGKILL)[:1 if quick else 2]:
        with Daemon() as d:
            load = Load(d, 'unlinked')
            wait_for(lambda: len(load.answered) > 100)
            log = len(d.log.read_text())
            log_of(d).unlink()
            told(d, log, ['moved or removed'])
            refused(d, load)
            time.sleep(1.5) # housekeeping's look
            load.end()
            d.stop(how)
            d.start()
            line = check_all(d, [load], (500, 503))
    return line


def wal_cut(quick):
    """To nothing, or to half: what was in it is lost, by that hand; told, nothing more is answered for, and
    what the file has is whole."""
    for how, of in ((signal.SIGTERM, 0), (signal.SIGKILL, 0), (signal.SIGKILL, 2))[:1 if quick else 3]:
        with Daemon() as d:
            load = Load(d, 'cut')
            wait_for(lambda: len(load.answered) > 100)
            log = len(d.log.read_text())
            os.truncate(log_of(d), of and log_of(d).stat().st_size // of)
            told(d, log, ['was cut'])
            refused(d, load)
            load.end()
            answered = len(load.answered)
            d.stop(how)
            d.start()
            stored = d.get('/v1/stats')['reports']
            load.answered, load.uploads = set(), []
            line = '%d of %d answered were in the file; ' % (stored, answered) + \
                check_all(d, [load], (500, 503))
    return line


def shm_removed(quick):
    """The index of the log: who has it open goes on, and a kill loses nothing."""
    with Daemon() as d:
        loads = []
        for number in range(1 if quick else 4):
            load = Load(d, 'shm%d' % number)
            loads.append(load)
            wait_for(lambda: len(load.answered) > 100)
            log_of(d).with_name('stallsym.db-shm').unlink()
            before = len(load.answered)
            wait_for(lambda: len(load.answered) > before + 40, 60, 'takes no reports')
            d.stop(signal.SIGKILL)
            load.end()
            d.start()
        return check_all(d, loads)


def spool_removed(quick):
    """The folders of uploads and of symbols: told while they are gone, reports go on; then as before."""
    said = []
    with Daemon() as d:
        load = Load(d, 'spool')
        wait_for(lambda: len(load.answered) > 100)
        for number, name in enumerate(('spool', 'symbols', 'work', 'objects')[:1 if quick else 4]):
            path, log = d.folder / 'data' / name, len(d.log.read_text())
            if not path.exists():
                continue
            away = path.rename(d.folder / ('away-' + name))
            extra = DEMO.read_bytes() + name.encode()
            answer = d.request('POST', '/v1/symbols', extra)
            assert answer.status in (202, 500, 503), answer
            wait_for(lambda: readiness(d).json['problems'], 30, '/readyz says nothing of it: ' + name)
            said += readiness(d).json['problems']
            assert 'level=warn' in d.log.read_text()[log:] or 'level=error' in d.log.read_text()[log:]
            before = len(load.answered)
            wait_for(lambda: len(load.answered) > before + 40, 60, 'takes no reports')
            shutil.rmtree(path, ignore_errors=True) # made anew meanwhile
            away.rename(path)
            wait_for(lambda: not readiness(d).json['problems'], 60, 'the problem stays: ' + name)
            assert d.upload(extra).status in (200, 202)
        load.end()
        d.restart() # files of uploads that failed meanwhile go
        load.uploads = [u for u in load.uploads # some lay in what was away
                        if d.get('/v1/symbols/uploads/%s' % u)['state'] != 'failed']
        # 410: an object file that is asked for while its folder is away is not kept.
        return check_all(d, [load], (410, 500, 503)) + '; ' + '; '.join(sorted(set(said)))
