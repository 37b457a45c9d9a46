#!/usr/bin/env python3
"""Backups of the real daemon under load: a daemon over a copy of one has every report that was
acknowledged before, once, and the symbols; one at a time; the newest N; no room; given up at a stop.

Covers: server/jobs/backups.c server/jobs/backup_dir.c server/http/api_backups.c
Covers: storage/snapshot.c storage/sqlite_snapshot.c storage/blob_stage.c
"""
import json, os, pathlib, shutil, signal, sqlite3, sys, tempfile, time

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon
from traffic import APP, DEMO, IMAGES, Traffic, body, report
from test_pieces import archive, open_upload, put

ADDRESSES = [hex(0x100004000 + 4 * i) for i in range(110)]


def begin(d, status=202):
    answer = d.request('POST', '/v1/admin/backup')
    assert answer.status == status, answer
    return answer.json


def wait_for(d, id, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        found = [b for b in d.get('/v1/admin/backups')['items'] if b['id'] == id]
        assert found, id
        if found[0]['state'] != 'running':
            return found[0]
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def names(d):
    answer = d.request('POST', '/v1/symbolicate', json.dumps({'images': IMAGES, 'stacks': [ADDRESSES]}),
                       {'Content-Type': 'application/json'})
    assert answer.status == 200, answer
    return [(f['status'], [(x['function'], x['line']) for x in f['frames']])
            for f in answer.json['stacks'][0]]


def rows(path):
    with sqlite3.connect('file:%s?mode=ro' % path, uri=True) as db:
        assert db.execute('PRAGMA integrity_check').fetchall() == [('ok',)], path
        assert db.execute('PRAGMA foreign_key_check').fetchall() == [], path
        return {table: db.execute('SELECT count(*) FROM ' + table).fetchone()[0]
                for table in ('reports', 'stacks', 'clusters')}


def under_load():
    piece = archive(200000)
    with Daemon() as d:
        d.upload(DEMO, status=200)
        opened = open_upload(d, piece, bundle_id=APP)['upload_id']
        put(d, opened, 0, piece[:100000])
        whole = names(d)
        assert sum(s == 'resolved' for s, _ in whole) > 50
        traffic = Traffic(d, 'backup')
        time.sleep(1.5)
        results = []
        try:
            for round in range(3):
                with traffic.lock:
                    before = set(traffic.answered)
                id = begin(d)['id']
                again = d.request('POST', '/v1/admin/backup')
                assert again.status in (202, 409), again
                if again.status == 202: # the first was done already
                    wait_for(d, again.json['id'])
                done = wait_for(d, id)
                assert done['state'] == 'done', done
                results.append((before, done))
                time.sleep(0.3)
        finally:
            traffic.end()
        put(d, opened, 100000, piece[100000:150000]) # what was copied of the spool does not grow
        for before, done in results:
            assert before, 'no report was answered before the backup'
            assert pathlib.Path(done['path']).parent == d.folder / 'data/backups', done
            restore(d, done, before, whole, traffic, piece, opened)
        assert d.stop() == 0
        assert 'level=error' not in d.log.read_text(), d.log.read_text()
        return len(results[-1][0])


def restore(d, done, before, whole, traffic, piece, opened):
    folder = pathlib.Path(tempfile.mkdtemp(prefix='stallsym-test-'))
    try:
        shutil.copytree(done['path'], folder / 'data', symlinks=True)
        counts = rows(folder / 'data/stallsym.db')
        assert counts['reports'] >= len(before), (counts, len(before))
        with Daemon(folder) as copy:
            # Sent again they all are known; none of them twice.
            ids = sorted(before)
            for i in range(0, len(ids), 500):
                answer = copy.post_reports(body([traffic.sent[x] for x in ids[i:i + 500]]), status=202)
                assert answer.json['accepted'] == 0, answer
                assert answer.json['duplicates'] == len(ids[i:i + 500]), answer
            copy.settle()
            # The traffic deletes the symbols now and then: uploaded again they are there.
            if not any(s == 'resolved' for s, _ in names(copy)):
                copy.upload(DEMO, status=200)
            assert [f for s, f in names(copy)] == [f for s, f in whole]
            # The upload in pieces goes on where it was.
            offset = copy.request('HEAD', '/v1/symbols/uploads/%s' % opened).headers['Upload-Offset']
            assert offset == '100000', offset
            assert put(copy, opened, 100000, piece[100000:], wait='&wait=1').json['state'] == 'indexed'
            stats = copy.get('/v1/stats')
            assert stats['reports'] >= len(before), stats
            assert copy.stop() == 0
            assert 'level=error' not in copy.log.read_text(), copy.log.read_text()
    finally:
        shutil.rmtree(folder)


def same_answers():
    """Without traffic: the copy answers like the one it was made from."""
    def view(d):
        stats = d.get('/v1/stats')
        return ([(c['title'], c['count'], c['stack_count'], c['stall_seconds'])
                 for c in d.all_items('/v1/clusters?include_hidden=1')],
                d.get('/v1/breakdown?by=version,device&bundle_id=' + APP),
                {k: stats[k] for k in ('reports', 'stacks', 'clusters', 'symbol_files')}, names(d))
    far = pathlib.Path(tempfile.mkdtemp(prefix='stallsym-far-', dir='/dev/shm' if os.access('/dev/shm', os.W_OK)
                                        else None))
    folder = pathlib.Path(tempfile.mkdtemp(prefix='stallsym-test-'))
    try:
        with Daemon(env={'STALLSYM_BACKUP_DIR': str(far / 'b'), 'STALLSYM_BACKUP_KEEP': '2',
                         'STALLSYM_BACKUP_FREE_BYTES_MIN': '0'}) as d:
            assert d.get('/v1/admin/backups')['items'] == []
            d.upload(DEMO, status=200)
            d.post_reports(body([report('same-%d' % i) for i in range(400)]), status=202)
            d.settle()
            (far / 'b').mkdir()
            left = far / 'b/.20200101T000000000Z.tmp'
            (left / 'x').mkdir(parents=True)
            (far / 'b/mine').write_text('not a backup')
            (far / 'b/20200101T000000000Z').mkdir() # nor this: it has no manifest
            ids = [wait_for(d, begin(d)['id'])['id'] for _ in range(4)]
            assert not left.exists()
            listed = d.get('/v1/admin/backups')['items']
            assert [b['id'] for b in listed] == ids[:1:-1], (ids, listed)
            assert sorted(p.name for p in (far / 'b').iterdir()) == ['20200101T000000000Z', *ids[2:], 'mine']
            last = listed[0]
            on_disk = sum(p.lstat().st_size for p in pathlib.Path(last['path']).rglob('*')
                          if p.is_file() and not p.is_symlink() and p.name != 'MANIFEST')
            assert last['bytes'] == on_disk and last['database_bytes'] > 0, (last, on_disk)
            assert last['copied_bytes'] == last['database_bytes'] and last['reason'] is None
            assert 'stallsym_backups_total 4' in d.request('GET', '/metrics').body.decode()
            assert not any((d.folder / 'data/work').iterdir())
            want = view(d)
            shutil.copytree(last['path'], folder / 'data', symlinks=True)
            assert d.stop() == 0
            assert d.start().get('/v1/admin/backups')['items'] == listed
        with Daemon(folder) as copy:
            assert view(copy) == want
    finally:
        shutil.rmtree(far)
        shutil.rmtree(folder)


def refused():
    with Daemon(env={'STALLSYM_BACKUP_FREE_BYTES_MIN': '1000G'}) as d:
        answer = d.request('POST', '/v1/admin/backup')
        assert answer.status == 507 and 'not enough room' in answer.json['detail'], answer
        assert d.get('/v1/admin/backups')['items'] == []
        read = d.request('POST', '/v1/admin/tokens', json.dumps({'scopes': ['read']}),
                         {'Content-Type': 'application/json'}).json['token']
        assert d.request('POST', '/v1/admin/backup', token=read).status == 403
    with Daemon(env={'STALLSYM_STORAGE_BACKEND': 'memory'}) as d:
        answer = d.request('POST', '/v1/admin/backup')
        assert answer.status == 409 and 'keeps nothing' in answer.json['detail'], answer
    # A folder that cannot be made: told in the log, and nothing more than that to the client.
    with Daemon(env={'STALLSYM_BACKUP_DIR': '/proc/nowhere'}) as d:
        assert d.request('POST', '/v1/admin/backup').status == 503
        assert '/proc/nowhere' in d.log.read_text()
    killed()


def killed():
    """kill -9 in the midst: nothing that looks like a backup, and the next one clears it away."""
    with Daemon() as d:
        reports = [report('kill-%d' % i) for i in range(3000)]
        d.post_reports(body(reports), status=202)
        begin(d)
        d.stop(signal.SIGKILL)
        d.start()
        for b in d.get('/v1/admin/backups')['items']:
            rows(pathlib.Path(b['path']) / 'stallsym.db')
        done = wait_for(d, begin(d)['id'])
        assert done['state'] == 'done' and rows(pathlib.Path(done['path']) / 'stallsym.db')['reports'] == 3000
        hidden = [p.name for p in (d.folder / 'data/backups').iterdir() if p.name.startswith('.')]
        assert hidden == [], hidden
        assert d.stop() == 0


def main():
    print('under load: %d reports before the last backup, each there once' % under_load())
    same_answers()
    refused()


if __name__ == '__main__':
    main()
