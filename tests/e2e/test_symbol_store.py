"""The symbol store through the real daemon: several objects of one UUID in every order, deletions that
fall back to the next best, indexes that are lost or of an older version, objects that retention drops.

Covers: server/http/api_symbol_delete.c server/jobs/index_room.c server/jobs/index_install.c
"""
import hashlib, itertools, json, os, pathlib, signal, sqlite3, struct, sys, time, uuid, zipfile, zlib

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon, frame_lines

DEMO = pathlib.Path(__file__).parent.parent / 'demo' / 'Shop.dSYM.zip'
APP = 'com.example.shop'


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'waited too long'
        time.sleep(0.02)


def dwarf_object():
    with zipfile.ZipFile(DEMO) as archive:
        name = next(n for n in archive.namelist() if '/DWARF/' in n and not n.endswith('/'))
        return archive.read(name)


def objects():
    """One UUID as full dSYM, as symbol table alone, as a dSYM that says something else, cut off."""
    full = dwarf_object()
    assert full.count(b'__debug_info\0') >= 1
    table = full.replace(b'__debug_', b'__xebug_')
    other = full.replace(b'/src/Shop', b'/srX/Shop')
    assert other != full
    return {'full': full, 'table': table, 'other': other, 'cut': full[:len(full) * 2 // 5]}


def report(uuid, id, address):
    return {'id': id, 'bundle_id': APP, 'app_version': '7.2.1', 'duration_ms': 1240,
            'images': [{'uuid': uuid, 'name': 'Shop', 'load_address': '0x100000000'}],
            'threshold_type': 'runloop_800', 'stack': address}


def facts(d, uuid):
    """What is in use: (has_dwarf, lines, functions), and what the report's frame says."""
    rows = d.get('/v1/symbols/' + uuid)['objects']
    current = [r for r in rows if r['current']]
    assert len(current) == 1 and rows[0]['current'], rows
    frame = d.get('/v1/reports/one')['stack'][0]
    return ((current[0]['has_dwarf'], current[0]['lines'], current[0]['functions'], current[0]['object_sha256']),
            frame_lines(frame))


def orders():
    """B20: each alone after the full one, before it, and all of them mixed: 7 orders."""
    return [('full', 'table'), ('table', 'full'), ('full', 'cut'), ('cut', 'full'),
            ('table', 'other', 'full', 'cut'), ('full', 'cut', 'other', 'table'),
            ('other', 'table', 'cut', 'full')]


def b20_any_order_one_answer():
    things = objects()
    answers = {}
    for order in orders():
        with Daemon() as d:
            d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
            for kind in order:
                answer = d.upload(things[kind], 'wait=1&bundle_id=' + APP)
                assert answer.status == (422 if kind == 'cut' else 200), (order, kind, answer)
                slices = answer.json['slices']
                if kind == 'cut':
                    assert all(s['state'] == 'failed' for s in slices), answer
                    continue
                assert slices[0]['uuid'] == UUID and slices[0]['state'] == 'indexed', answer
            d.settle()
            row, frames = facts(d, UUID)
            assert row[0], (order, row) # the one with DWARF
            assert frames and frames[0][2], (order, frames) # with a line
            answers.setdefault(frozenset(order) - {'cut', 'table'}, set()).add((row, tuple(frames)))
            if 'other' in order:
                reasons = ' '.join(o['reason'] or '' for o in d.get('/v1/symbols/' + UUID)['objects'])
                assert 'conflicts with another object with this UUID' in reasons, reasons
            d.restart(signal.SIGKILL)
            assert facts(d, UUID) == (row, frames), order
    assert all(len(found) == 1 for found in answers.values()), answers
    print('  %d orders' % len(orders()))


def all_orders_of_three_agree():
    things = objects()
    found = set()
    for order in itertools.permutations(('full', 'table', 'other')):
        with Daemon() as d:
            d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
            ids = {k: d.upload(things[k], 'wait=1', 200).json['upload_id'] for k in order}
            d.settle()
            row, frames = facts(d, UUID)
            found.add((row, tuple(frames)))
            # Deleting the best falls back to the next best, twice; stacks follow.
            best = next(o['upload_id'] for o in d.get('/v1/symbols/' + UUID)['objects'] if o['current'])
            assert best in (ids['full'], ids['other'])
            assert d.request('DELETE', '/v1/symbols/uploads/%d' % best).status == 204
            d.settle()
            second, frames2 = facts(d, UUID)
            assert second[0] and second != row, (order, row, second)
            found.add(('second', second, tuple(frames2)))
            left = ({ids['full'], ids['other']} - {best}).pop()
            assert d.request('DELETE', '/v1/symbols/uploads/%d' % left).status == 204
            d.settle()
            third, frames3 = facts(d, UUID)
            assert not third[0] and frames3[-1][0] == frames[-1][0] and not frames3[0][2], (third, frames3)
            assert d.request('DELETE', '/v1/symbols/uploads/%d' % ids['table']).status == 204
            d.settle()
            assert d.request('GET', '/v1/symbols/' + UUID).status == 404
            assert d.get('/v1/reports/one')['stack'][0]['status'] == 'no_symbols'
            missing = [m['uuid'] for m in d.get('/v1/symbols/missing')['items']]
            assert missing == [UUID], missing
            assert d.request('DELETE', '/v1/symbols/uploads/%d' % best).status == 404
            wait_for(lambda: list((d.folder / 'data/symbols').rglob('*.gsym')) == [])
            # And it can be sent again.
            d.upload(things['full'], 'wait=1', 200)
            d.settle()
            assert facts(d, UUID)[1] == list(frames) or facts(d, UUID)[0][0]
    assert len(found) == 2, found


def deleting_a_uuid_takes_all():
    things = objects()
    with Daemon() as d:
        d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
        for kind in ('full', 'table'):
            d.upload(things[kind], 'wait=1', 200)
        again = d.upload(DEMO, 'wait=1', 200).json # the same object in an archive
        d.settle()
        before = facts(d, UUID)
        # One of two uploads of the same object: nothing changes, nothing is resolved anew.
        current = d.get('/v1/symbols/' + UUID)['objects'][0]['upload_id']
        assert d.request('DELETE', '/v1/symbols/uploads/%d' % current).status == 204
        assert d.get('/v1/stats')['pending_stacks'] == 0
        assert facts(d, UUID) == before and again['slices'][0]['uuid'] == UUID
        assert d.request('DELETE', '/v1/symbols/' + UUID).status == 204
        d.settle()
        assert d.request('GET', '/v1/symbols/' + UUID).status == 404
        assert d.get('/v1/reports/one')['stack'][0]['status'] == 'no_symbols'
        assert list((d.folder / 'data/symbols').rglob('*.gsym')) == []


def b75_another_build_was_sent():
    """The wanted UUID stays in the list, and the answer says what the upload held."""
    other = bytearray(dwarf_object())
    raw = bytes.fromhex(UUID.replace('-', ''))
    at = bytes(other).find(raw)
    assert at > 0
    other[at:at + 16] = bytes(range(1, 17))
    with Daemon() as d:
        d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
        answer = d.upload(bytes(other), 'wait=1', 200).json
        d.settle()
        assert [s['uuid'] for s in answer['slices']] == ['01020304-0506-0708-090A-0B0C0D0E0F10'], answer
        assert [m['uuid'] for m in d.get('/v1/symbols/missing')['items']] == [UUID]


def index_file(d):
    return (d.folder / 'data/symbols' / UUID[:2].lower() / (UUID + '.gsym')).resolve()


def check(d):
    body = '{"uuids":["%s"]}' % UUID
    answer = d.request('POST', '/v1/symbols/check', body, {'Content-Type': 'application/json'})
    assert answer.status == 200, answer
    return 'present' if answer.json['present'] == [UUID] else 'missing'


def is_whole(path):
    """The CRC at the end of an index file is right."""
    data = path.read_bytes()
    return zlib.crc32(data[:-4]) == struct.unpack('<I', data[-4:])[0]


def old_version(path):
    """The file as a program of another version would have left it: sound, with another footer version."""
    data = bytearray(path.read_bytes())
    assert data[-32:-28] == b'STL1', data[-32:]
    data[-28:-26] = struct.pack('<H', struct.unpack('<H', data[-28:-26])[0] - 1)
    data[-4:] = struct.pack('<I', zlib.crc32(data[:-4]))
    path.write_bytes(data)


def damage(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)


def spoil(d, how):
    path = index_file(d)
    if how == 'lost':
        path.unlink()
    elif how == 'link':
        (d.folder / 'data/symbols' / UUID[:2].lower() / (UUID + '.gsym')).unlink()
    elif how == 'cut':
        path.write_bytes(path.read_bytes()[:100])
    else:
        old_version(path)


def indexes_are_made_anew():
    with Daemon() as d:
        d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
        d.upload(dwarf_object(), 'wait=1', 200)
        d.settle()
        whole = index_file(d).read_bytes()
        _, frames = facts(d, UUID)
        for how in ('lost', 'link', 'cut', 'old'):
            d.stop()
            spoil(d, how)
            d.start()
            wait_for(lambda: index_file(d).exists() and index_file(d).read_bytes() == whole)
            assert check(d) == 'present'
            # New stacks get names from it, old ones have theirs. Stacks are asked again a moment after
            # the file is there, which no figure shows; one may look when it was not.
            d.post_reports(report(UUID, 'new-' + how, '0x10000413c 0x100004084'), status=202)
            d.settle()
            wait_for(lambda: facts(d, UUID)[1] == frames)
            wait_for(lambda: d.get('/v1/reports/new-' + how)['stack'][0]['status'] == 'resolved')
            wait_for(lambda: d.get('/v1/symbols/missing')['items'] == [])


def without_the_object_it_is_missing():
    for how in ('lost', 'cut', 'old'):
        with Daemon(env={'STALLSYM_SYMBOLS_KEEP_OBJECTS': 'no'}) as d:
            d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
            upload = d.upload(dwarf_object(), 'wait=1', 200).json['upload_id']
            d.settle()
            _, frames = facts(d, UUID)
            assert check(d) == 'present'
            assert d.request('GET', '/v1/symbols/%s/file' % UUID).status == 410
            d.stop()
            spoil(d, how)
            d.start()
            wait_for(lambda: check(d) == 'missing')
            row = d.get('/v1/symbols/' + UUID)['objects'][0]
            assert row['state'] == 'lost' and 'send it again' in row['reason'] and not row['current'], row
            # What was resolved keeps its names; CI sends it once more, and it is indexed once more.
            assert frame_lines(d.get('/v1/reports/one')['stack'][0]) == frames
            again = d.upload(dwarf_object(), 'wait=1', 200).json
            assert again['upload_id'] != upload and check(d) == 'present'
            assert d.get('/v1/symbols/' + UUID)['objects'][0]['state'] == 'indexed'


def what_cannot_be_opened_is_found_at_its_use():
    """Damage in the middle is not seen at an opening (test_symbol_keeper has the patrol that reads
    indexes whole); an index that does not open is made anew once a stack asks for it."""
    with Daemon() as d:
        d.upload(dwarf_object(), 'wait=1', 200)
        whole = index_file(d).read_bytes()
        damage(index_file(d))
        assert not is_whole(index_file(d))
        d.stop()
        d.env['STALLSYM_SYMBOLS_CHECK_HOURS'] = '0'
        d.start()
        time.sleep(0.3)
        assert not is_whole(index_file(d)) # opened, not read
        # The resolver finds what cannot be opened without any patrol.
        index_file(d).write_bytes(b'junk')
        d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
        wait_for(lambda: index_file(d).read_bytes() == whole)
        d.settle()
        wait_for(lambda: d.get('/v1/reports/one')['stack'][0]['status'] == 'resolved')


def fallback_without_an_index():
    """The next best object's kept index is damaged, its object is there: it is made anew; then neither."""
    things = objects()
    with Daemon() as d:
        d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
        full = d.upload(things['full'], 'wait=1', 200).json['upload_id']
        d.upload(things['table'], 'wait=1', 200)
        d.settle()
        rows = d.get('/v1/symbols/' + UUID)['objects']
        table = next(r for r in rows if not r['current'])
        kept = index_file(d).parent / ('%s.%s.gsym' % (UUID, table['object_sha256']))
        assert kept.exists()
        damage(kept)
        assert d.request('DELETE', '/v1/symbols/uploads/%d' % full).status == 204
        d.settle()
        assert is_whole(kept) and not facts(d, UUID)[0][0]
        assert frame_lines(d.get('/v1/reports/one')['stack'][0])[0][0]


def objects_are_dropped():
    things = objects()
    sizes = {k: len(v) for k, v in things.items()}
    with Daemon(env={'STALLSYM_RETENTION_OBJECT_BYTES': str(sizes['full'] + 100)}) as d:
        d.post_reports(report(UUID, 'one', '0x100004084'), status=202)
        d.upload(things['full'], 'wait=1&bundle_id=com.a&version=1', 200)
        d.settle()
        stats = d.get('/v1/stats')
        assert stats['object_files'] == 1 and stats['object_bytes'] == sizes['full'], stats
        assert stats['index_bytes'] == index_file(d).stat().st_size, stats
        got = d.request('GET', '/v1/symbols/%s/file' % UUID)
        assert got.status == 200 and got.body == things['full']
        time.sleep(0.05)
        # Another one comes: above the cap the longer unused one goes (fetching is use); its index stays.
        other = bytearray(things['full'])
        raw = bytes.fromhex(UUID.replace('-', ''))
        at = bytes(other).find(raw)
        other[at:at + 16] = bytes(range(1, 17))
        d.upload(bytes(other), 'wait=1&bundle_id=com.a&version=2', 200)
        wait_for(lambda: d.get('/v1/stats')['object_files'] == 1)
        second = '01020304-0506-0708-090A-0B0C0D0E0F10'
        gone, there = ((UUID, second) if d.request('GET', '/v1/symbols/%s/file' % second).status == 200
                       else (second, UUID))
        answer = d.request('GET', '/v1/symbols/%s/file' % gone)
        assert answer.status == 410 and 'retention' in answer.json['detail'], answer
        assert gone == second, 'the one that was fetched is of use'
        assert check(d) == 'present' and frame_lines(d.get('/v1/reports/one')['stack'][0])
        assert not d.get('/v1/symbols/' + gone)['objects'][0]['object_kept']
        metrics = d.request('GET', '/metrics').body.decode()
        assert 'stallsym_object_files 1\n' in metrics and 'stallsym_objects_dropped_total 1\n' in metrics
        assert 'stallsym_object_bytes %d\n' % sizes['full'] in metrics
        assert len([p for p in (d.folder / 'data/objects').rglob('*') if p.is_file()]) == 1
        # Sent again it is indexed already; a deletion takes the object, too.
        assert d.request('DELETE', '/v1/symbols/' + there).status == 204
        wait_for(lambda: d.get('/v1/stats')['object_files'] == 0)
        assert [p for p in (d.folder / 'data/objects').rglob('*') if p.is_file()] == []


def indexes_are_capped():
    """The app that has reached its cap is refused, others are not until all together have."""
    full = objects()['full']
    raw = bytes.fromhex(UUID.replace('-', ''))
    made = [full.replace(raw, bytes(range(n, n + 16))) for n in range(1, 7)]
    with Daemon() as d:
        d.upload(full, 'wait=1&bundle_id=com.a&version=1', 200)
        size = d.get('/v1/stats')['kept_index_bytes']
        assert size == index_file(d).stat().st_size, size
    with Daemon(env={'STALLSYM_SYMBOLS_INDEX_BYTES': str(3 * size),
                     'STALLSYM_SYMBOLS_APP_INDEX_BYTES': str(2 * size)}) as d:
        for n in range(2):
            d.upload(made[n], 'wait=1&bundle_id=com.a&version=1', 200)
        stats = d.get('/v1/stats')
        assert (stats['kept_index_bytes'], stats['kept_index_bytes_max']) == (2 * size, 3 * size), stats
        answer = d.upload(made[2], 'wait=1&bundle_id=com.a&version=1', 507)
        assert 'app_index_bytes' in answer.json['detail'], answer
        piece = {'bundle_id': 'com.a', 'size': len(made[2]), 'sha256': hashlib.sha256(made[2]).hexdigest()}
        answer = d.request('POST', '/v1/symbols/uploads', json.dumps(piece).encode(),
                           {'Content-Type': 'application/json'})
        assert answer.status == 507 and 'app_index_bytes' in answer.json['detail'], answer
        assert list((d.folder / 'data/spool').iterdir()) == []
        # What is there may be sent again, and another app has room.
        d.upload(made[0], 'wait=1&bundle_id=com.a&version=1', 200)
        d.upload(made[0], 'wait=1&bundle_id=com.a&version=2', 200)
        d.upload(made[3], 'wait=1&bundle_id=com.b&version=1', 200)
        answer = d.upload(made[4], 'wait=1&bundle_id=com.c&version=1', 507)
        assert '[symbols] index_bytes' in answer.json['detail'], answer
        assert d.request('DELETE', '/v1/symbols/01020304-0506-0708-090A-0B0C0D0E0F10').status == 204
        # Those that wait together: the indexer takes what there is room for.
        form = b''.join(b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + m + b'\r\n'
                        for m in (made[2], made[4], made[5])) + b'--x--\r\n'
        answer = d.request('POST', '/v1/symbols?wait=1&bundle_id=com.d&version=1', form,
                           {'Content-Type': 'multipart/form-data; boundary=x'})
        states = [u['state'] for u in answer.json['uploads']]
        assert answer.status == 422 and states == ['indexed', 'failed', 'failed'], answer
        assert '[symbols] index_bytes' in answer.json['uploads'][1]['reason'], answer


def a_slow_sum_is_no_full_store():
    """Where the sum of so many indexes cannot be had in time the upload may come again: 503, not 507."""
    full = objects()['full']
    with Daemon() as d:
        d.upload(full, 'wait=1&bundle_id=com.a&version=1', 200)
        d.stop()
        base = sqlite3.connect(d.folder / 'data/stallsym.db')
        names = [x[1] for x in base.execute('PRAGMA table_info(slices)')]
        other = {'id': 'n', 'uuid': 'randomblob(16)', 'object_sha256': 'randomblob(32)'}
        base.execute('WITH RECURSIVE c (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM c LIMIT 100000) '
                     'INSERT INTO slices (%s) SELECT %s FROM c, (SELECT * FROM slices) x' % (
                         ', '.join(names), ', '.join(other.get(x, 'x.' + x) for x in names)))
        base.commit()
        base.close()
        d.env['STALLSYM_HTTP_READ_MS'] = '10'
        d.start()
        answer = d.upload(full + b' ', 'bundle_id=com.b&version=1')
        assert answer.status == 503, answer
        d.env['STALLSYM_HTTP_READ_MS'] = '600000'
        d.restart()
        d.upload(full + b' ', 'bundle_id=com.b&version=1', 202)


def who_holds_most_gives():
    """One app's newer files push out its own older ones, not the other app's; so does a cap by app."""
    full = objects()['full']
    raw = bytes.fromhex(UUID.replace('-', ''))
    for env in ({'STALLSYM_RETENTION_OBJECT_BYTES': str(4 * len(full))},
                {'STALLSYM_RETENTION_APP_OBJECT_BYTES': str(3 * len(full))}):
        with Daemon(env=env) as d:
            tokens = {app: d.request('POST', '/v1/admin/tokens', json.dumps(
                {'name': app, 'scopes': ['symbols'], 'bundle_id': app}).encode(),
                {'Content-Type': 'application/json'}).json['token'] for app in ('com.a', 'com.b')}
            for i in range(9):
                mine = raw if i == 0 else bytes([i]) * 16
                answer = d.request('POST', '/v1/symbols?wait=1', full.replace(raw, mine, 1),
                                   {'Content-Type': 'application/octet-stream'},
                                   tokens['com.a' if i == 0 else 'com.b'])
                assert answer.status == 200, answer
                time.sleep(0.01)
            wait_for(lambda: d.get('/v1/stats')['object_files'] == 4)
            kept = {s['uuid'] for s in d.get('/v1/symbols')['items'] if s['object_kept']}
            newest = {str(uuid.UUID(bytes=bytes([i]) * 16)).upper() for i in (6, 7, 8)}
            assert kept == {UUID} | newest, kept
            assert len(d.get('/v1/symbols')['items']) == 9, 'every index stays'


def protected_builds():
    things = objects()
    with Daemon(env={'STALLSYM_RETENTION_OBJECT_BYTES': '1K'}) as d:
        build = 'bundle_id=com.a&version=1'
        assert d.request('PUT', '/v1/symbols/protected?' + build).status == 204
        assert d.request('PUT', '/v1/symbols/protected?' + build).status == 204
        assert d.request('PUT', '/v1/symbols/protected').status == 400
        assert d.request('DELETE', '/v1/symbols/protected?bundle_id=com.a').status == 404
        items = d.get('/v1/symbols/protected')['items']
        assert len(items) == 1 and items[0]['version'] == '1' and items[0]['build'] is None, items
        d.upload(things['full'], 'wait=1&build=7&' + build, 200)
        d.upload(things['table'], 'wait=1&bundle_id=com.a&version=2', 200)
        wait_for(lambda: d.get('/v1/stats')['object_files'] == 1)
        time.sleep(0.2)
        assert d.request('GET', '/v1/symbols/%s/file' % UUID).body == things['full']
        # An upload may ask for it itself.
        d.upload(things['other'], 'wait=1&protect=1&bundle_id=com.a&version=3', 200)
        answer = d.upload(things['other'], 'wait=1&protect=1')
        assert answer.status == 400 and 'build' in answer.json['detail'], answer
        assert len(d.get('/v1/symbols/protected?bundle_id=com.a')['items']) == 2
        # So may one that is known already.
        d.upload(things['other'], 'wait=1&protect=1&bundle_id=com.a&version=4', 200)
        assert len(d.get('/v1/symbols/protected?bundle_id=com.a')['items']) == 3
        # One that is known under another version is an upload of its own: retention asks for both.
        first = d.upload(things['full'], 'wait=1&build=7&' + build, 200).json['upload_id']
        second = d.upload(things['full'], 'wait=1&bundle_id=com.a&version=10.0', 200).json['upload_id']
        assert second != first
        assert d.upload(things['full'], 'bundle_id=com.a&version=10.0', 200).json['upload_id'] == second
        assert d.upload(things['full'], 'wait=1', 200).json['upload_id'] == second
        assert d.upload(things['full'], build, 200).json['upload_id'] == first
        d.restart()
        time.sleep(0.3)
        assert d.get('/v1/stats')['object_files'] == 2
        assert d.request('DELETE', '/v1/symbols/protected?' + build).status == 204
        wait_for(lambda: d.get('/v1/stats')['object_files'] == 1)


def main():
    global UUID
    with Daemon() as d:
        demo = d.upload(DEMO, 'wait=1', 200).json
        assert demo['reason'] is None, demo['reason']
        UUID = demo['slices'][0]['uuid']
    for test in TESTS:
        begin = time.monotonic()
        test()
        print('%s: %.1f s' % (test.__name__, time.monotonic() - begin))


TESTS = [b20_any_order_one_answer, all_orders_of_three_agree, deleting_a_uuid_takes_all,
         b75_another_build_was_sent, indexes_are_made_anew, without_the_object_it_is_missing,
         what_cannot_be_opened_is_found_at_its_use, fallback_without_an_index, objects_are_dropped,
         who_holds_most_gives, indexes_are_capped, a_slow_sum_is_no_full_store,
         protected_builds]
if __name__ == '__main__':
    main()
