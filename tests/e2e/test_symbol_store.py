"""The symbol store through the real daemon: several objects of one UUID in every order, deletions that
fall back to the next best, indexes that are lost or of an older version, objects that retention drops.

Covers: server/http/api_symbol_delete.c server/jobs/index_install.c"""
import io, itertools, os, pathlib, signal, sqlite3, struct, sys, time, zipfile

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


def main():
    global UUID
    with Daemon() as d:
        UUID = d.upload(DEMO, 'wait=1', 200).json['slices'][0]['uuid']
    for test in TESTS:
        begin = time.monotonic()
        test()
        print('%s: %.1f s' % (test.__name__, time.monotonic() - begin))


TESTS = [b20_any_order_one_answer, all_orders_of_three_agree, deleting_a_uuid_takes_all,
         b75_another_build_was_sent]
if __name__ == '__main__':
    main()
