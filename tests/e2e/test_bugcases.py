#!/usr/bin/env python3
"""Public faults of such software as small inputs with the right answer (B-numbers), each sent to
the real daemon. What the inputs leave free (refuse or repair) is fixed here to what this daemon
does."""
import json, os, pathlib, re, sys, threading, time, zipfile, io
from daemon import CASES, Daemon, frame_lines, skip

if not CASES.is_dir():
    skip('no bug cases at ' + str(CASES))

FEED = '4C4C44DC-5555-3144-A100-C10E3A4B6D1E'
PLUG = '4C4C4488-5555-3144-A192-B4B385B8C330'
failures = []


def read(case, name='request.json'):
    return (CASES / case / name).read_bytes()


def dwarf_files(case):
    return sorted(p for p in (CASES / case).rglob('DWARF/*') if p.is_file())


def upload_all(daemon, case):
    for path in dwarf_files(case):
        assert daemon.upload(path).status == 200, path


def stack(daemon, report):
    return daemon.get('/v1/reports/' + report)['stack']


def shown(raw):
    """'deep deep.h:7 <- mid mid.h:5', as the cases write it."""
    return ' <- '.join('%s %s:%s' % (name, file, line) for name, file, line in frame_lines(raw))


def group_of(daemon, report):
    return daemon.get('/v1/reports/' + report)['cluster_id']


def expect_frames(daemon, wanted):
    for report, index, text in wanted:
        got = shown(stack(daemon, report)[index])
        assert got == text, (report, index, got, text)


def case(function):
    if len(sys.argv) > 1 and function.__name__ not in sys.argv[1:]:
        return function
    try:
        function()
        print('ok: %s: %s' % (function.__name__, function.__doc__))
    except Exception as error:  # the other cases still run
        failures.append(function.__name__)
        print('FAILED: %s: %s\n   %s: %s' % (function.__name__, function.__doc__,
                                             type(error).__name__, error))
    return function


@case
def B1():
    """return addresses are looked up minus one, the leaf as it is"""
    with Daemon() as d:
        upload_all(d, 'B1')
        d.post_reports(read('B1'), status=202)
        d.settle()
        expect_frames(d, [('b1-caller', 0, 'park_forever app.c:8'),
                          ('b1-caller', 1, 'enter_stall app.c:13'),
                          ('b1-caller', 2, 'drive app.c:19'), ('b1-leaf', 0, 'leaf_entry app.c:4'),
                          ('b1-leaf', 1, 'enter_stall app.c:12'), ('b1-leaf', 2, 'drive app.c:19')])
        sent = json.loads(read('B1'))['reports'][0]['threads'][0]['stack']
        for frame, raw in zip(sent, stack(d, 'b1-caller')):
            assert int(raw['address'], 16) == int(frame['address'], 16), raw


@case
def B2():
    """slide, load address and the vmaddr of __TEXT"""
    with Daemon() as d:
        upload_all(d, 'B2')
        d.post_reports(read('B2'), status=202)
        d.settle()
        for report in 'b2-slid', 'b2-slide0':
            expect_frames(d, [(report, 0, 'plug_wait plug.c:4'), (report, 1, 'load_feed main.c:5'),
                              (report, 2, 'main main.c:8')])
        assert group_of(d, 'b2-slid') == group_of(d, 'b2-slide0')


@case
def B3():
    """pointer-authentication bits go, 47-bit addresses stay"""
    with Daemon() as d:
        upload_all(d, 'B2')
        d.post_reports(read('B3'), status=202)
        d.settle()
        expect_frames(d, [('b3-pac', 0, 'plug_wait plug.c:4'), ('b3-pac', 1, 'load_feed main.c:5'),
                          ('b3-pac', 2, 'main main.c:8')])
        frames = stack(d, 'b3-pac')
        assert frames[1]['address'] == '0x9b0ea28102f4001c', frames[1]
        assert frames[3]['image'] == 'libsystem_kernel.dylib', frames[3]
        assert frames[3]['status'] == 'no_symbols' and frames[3]['address'] == '0x7ff815f5f0ee', frames[3]
        assert frames[3]['offset'] == '0x10ee', frames[3]


def late(order, race=False):
    with Daemon() as d:
        first = None
        if race:
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, 'w') as z:
                for path in dwarf_files('B2'):
                    z.writestr('all.dSYM/' + path.name, path.read_bytes())
            thread = threading.Thread(target=d.upload, args=(archive.getvalue(),))
            thread.start()
            d.post_reports(read('B4', '1_before.json'), status=202)
            thread.join()
        else:
            d.post_reports(read('B4', '1_before.json'), status=202)
            d.settle()
            frames = stack(d, 'early-1')
            assert [(f['image'], f['offset'], f['status']) for f in frames] == [
                ('libplug.dylib', '0x4010', 'no_symbols'), ('Feed', '0x401c', 'no_symbols'),
                ('Feed', '0x4038', 'no_symbols')], frames
            missing = d.get('/v1/symbols/missing?bundle_id=com.example.stall')['items']
            assert {(m['uuid'], m['reports']) for m in missing} == {(FEED, 2), (PLUG, 2)}, missing
            first = group_of(d, 'early-1')
            assert first == group_of(d, 'early-2')
            assert d.get('/v1/clusters/%s' % first)['provisional'] is True
            for path in order:
                assert d.upload(path).status == 200
        d.settle()
        assert d.get('/v1/symbols/missing?bundle_id=com.example.stall')['items'] == []
        d.post_reports(read('B4', '3_after.json'), status=202)
        d.settle()
        for report in 'early-1', 'early-2', 'late-1':
            expect_frames(d, [(report, 0, 'plug_wait plug.c:4'), (report, 1, 'load_feed main.c:5'),
                              (report, 2, 'main main.c:8')])
        groups = d.get('/v1/clusters?include_hidden=1')['items']
        assert [(g['count'], g['provisional']) for g in groups] == [(3, False)], groups
        if first:
            assert d.get('/v1/clusters/%s' % first)['id'] == groups[0]['id']


@case
def B4():
    """reports before their dSYM: provisional, then one cluster, whatever the order"""
    feed, plug = sorted(dwarf_files('B2'), key=lambda p: p.name)
    late([plug, feed])
    late([feed, plug])
    late([], race=True)


@case
def B5():
    """wait frames form no key: exactly five clusters"""
    with Daemon() as d:
        upload_all(d, 'B5')
        d.post_reports(read('B5'), status=202)
        d.settle()
        g = {r: group_of(d, r) for r in ('r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7')}
        assert g['r1'] == g['r2'] and g['r4'] == g['r5'], g
        assert len(set(g.values())) == 5, g


@case
def B72():
    """names that the device sends no more (B5 without `symbol`): the app's causes stay what they are"""
    request = json.loads(read('B5'))
    with Daemon() as d:
        upload_all(d, 'B5')
        d.post_reports(json.dumps(request).encode(), status=202)
        for report in request['reports']:
            report['id'] += '-bare'
            for frame in report['threads'][0]['stack']:
                frame.pop('symbol', None)
        d.post_reports(json.dumps(request).encode(), status=202)
        d.settle()
        for name in 'r1', 'r2', 'r3', 'r4', 'r5':
            assert group_of(d, name) == group_of(d, name + '-bare'), name
        kernel = stack(d, 'r1-bare')[0]
        assert kernel['image'] == 'libsystem_kernel.dylib' and int(kernel['offset'], 0) > 0, kernel
        assert not any(f['function'] for f in kernel['frames']), kernel


@case
def B8():
    """inlined copies with several ranges each"""
    with Daemon() as d:
        upload_all(d, 'B8')
        d.post_reports(read('B8'), status=202)
        d.settle()
        expect_frames(d, [('b8-0', 1, 'check inl.h:5 <- two_checks app.c:4'),
                          ('b8-1', 1, 'check inl.h:5 <- two_checks app.c:6'),
                          ('b8-ret', 0, 'two_checks app.c:7')])


@case
def B9():
    """outer frames' positions come from the call, innermost first"""
    with Daemon() as d:
        upload_all(d, 'B9')
        d.post_reports(read('B9'), status=202)
        d.settle()
        expect_frames(d, [('b9', 0, 'outer app.c:6'),
                          ('b9', 1, 'deep deep.h:7 <- mid mid.h:5 <- outer app.c:4')])
        assert [f['inlined'] for f in stack(d, 'b9')[1]['frames']] == [True, True, False]


@case
def B10():
    """universal files, 32 and 64-bit tables, damaged ones"""
    for name in 'fat32', 'fat64':
        with Daemon() as d:
            answer = d.upload(CASES / 'B10' / name, status=200).json
            archs = {s['uuid']: s['arch'] for s in answer['slices']}
            assert archs == {'4C4C4495-5555-3144-A127-A1B42B5541AC': 'arm64',
                             '4C4C44B3-5555-3144-A116-BCE44807D4E1': 'arm64e',
                             '4C4C44B1-5555-3144-A1D9-74D6D0EA1070': 'x86_64'}, archs
            d.post_reports(read('B10'), status=202)
            d.settle()
            expect_frames(d, [('b10-arm64', 0, 'park app.c:9'), ('b10-arm64e', 0, 'park_e app.c:9'),
                              ('b10-x86_64', 0, 'park app.c:9')])
    with Daemon() as d:
        for name in 'fat64_nfat_huge', 'javaclass':
            assert d.upload(CASES / 'B10' / name).status in (400, 422), name
        for name in 'fat64_slice_at_0', 'fat64_slice_too_big':
            answer = d.upload(CASES / 'B10' / name)
            assert answer.status in (200, 400, 422), answer
        assert d.request('GET', '/healthz', token=False).status == 200


@case
def B12():
    """line 0 is no line; pseudo files keep their names"""
    with Daemon() as d:
        upload_all(d, 'B12')
        d.post_reports(read('B12'), status=202)
        d.settle()
        expect_frames(d, [('b12-0', 1, 'first app.c:None'),
                          ('b12-1', 1, 'second <compiler-generated>:None'),
                          ('b12-2', 1, 'body app.c:None <- third app.c:20')])
        assert stack(d, 'b12-1')[1]['frames'][0]['file'] == '<compiler-generated>'


@case
def B14():
    """odd JSON: the right status, the good reports kept, never infinity or a cut text"""
    allowed = {'bigint': (202,), 'deep': (400,), 'deep_field': (400, 202), 'dupkey': (400,),
               'nul': (202,), 'surrogate': (400,), 'utf8': (400,), 'overlong_utf8': (400,),
               'real_overflow': (400,), 'nan': (400,), 'neg': (202,), 'float_addr': (202,),
               'bom': (202,), 'trailing': (400,), 'empty': (400,), 'toplevel_array': (202,),
               'wrong_types': (202,), 'hexforms': (202,)}
    with Daemon() as d:
        upload_all(d, 'B2')
        for name, statuses in allowed.items():
            with Daemon() as fresh:
                upload_all(fresh, 'B2')
                start = time.monotonic()
                answer = fresh.post_reports(read('B14', name + '.json'))
                assert answer.status in statuses, (name, answer)
                assert time.monotonic() - start < 1, name
                fresh.settle()
                if answer.status != 202:
                    assert fresh.get('/v1/stats')['reports'] == 0, name
                    continue
                if name == 'bigint':
                    expect_frames(fresh, [('big-1', 1, 'load_feed main.c:5')])
                if name in ('bigint', 'nul', 'neg', 'deep_field'):
                    assert stack(fresh, 'ok-1'), name
                if name in ('nul', 'neg'):
                    assert len(answer.json['rejected']) == 1, (name, answer)
                if name == 'float_addr':
                    assert stack(fresh, 'ok-1')[0]['address'] == '0x103020010'
                if name == 'hexforms':
                    report = json.loads(read('B14', 'hexforms.json'))['reports'][0]['id']
                    expect_frames(fresh, [(report, 0, 'plug_wait plug.c:4')])
                if name == 'wrong_types':
                    assert [r['index'] for r in answer.json['rejected']] == [0, 1, 2], answer
                    assert all(r['reason'] for r in answer.json['rejected']), answer
                    assert stack(fresh, 'ok-4')
                assert b'nfinity' not in fresh.request('GET', '/v1/clusters').body


@case
def B15():
    """retries count once, a refused report burns no id, nothing is lost by kill -9"""
    def count(d):
        d.settle()
        return sum(c['count'] for c in d.get('/v1/clusters?include_hidden=1')['items'])

    def send(d, name):
        j = d.post_reports(read('B15', name), status=202).json
        return j['accepted'], j['duplicates'], len(j['rejected'])

    with Daemon() as d:
        upload_all(d, 'B2')
        assert send(d, 'batch1.json') == (2, 1, 0) and count(d) == 2
        assert send(d, 'batch1.json') == (0, 3, 0) and count(d) == 2
        assert send(d, 'batch2.json') == (1, 1, 1) and count(d) == 3
        assert send(d, 'batch2.json')[0] == 0 and count(d) == 3
        assert send(d, 'changed.json') == (0, 1, 0) and count(d) == 3
        assert d.get('/v1/reports/dup-a')['version'].startswith('1.0'), d.get('/v1/reports/dup-a')
        assert send(d, 'fixed.json')[0] == 1 and count(d) == 4
        send(d, 'noid.json')
        send(d, 'noid.json')
        assert count(d) == 5
        d.restart(9)
        assert send(d, 'batch1.json') == (0, 3, 0) and count(d) == 5
    with Daemon() as d:
        threads = [threading.Thread(target=send, args=(d, 'batch1.json')) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert count(d) == 2


def full(raw):
    """'main.Feed.load() async -> () app.c:15', as the case writes it."""
    return ' <- '.join('%s %s:%s' % (f['full'] or f['function'],
                                     os.path.basename(f['file'] or ''), f['line'])
                       for f in raw['frames'])


@case
def B17():
    """parts of async functions: their own names and lines, their function's cluster"""
    load = 'main.Feed.load() async -> ()'
    sort = 'main.sort<A where A: Swift.Comparable>([A]) -> ()'
    wanted = [('a1', 1, load + ' app.c:15'),
              ('a2', 1, '(1) await resume partial function for ' + load + ' app.c:16'),
              ('a3', 1, '(2) suspend resume partial function for ' + load + ' app.c:17'),
              ('cont0', 2, '(1) await resume partial function for ' + load + ' app.c:16'),
              ('cont1', 2, '(1) await resume partial function for ' + load + ' app.c:16'),
              ('cl', 1, '(1) suspend resume partial function for closure #1 () async -> () in ' +
               load + ' app.c:18'),
              ('sp', 1, 'generic specialization <Swift.Int> of ' + sort + ' app.c:19'),
              ('ge', 1, sort + ' app.c:20'),
              ('bad', 1, '(1) await resume partial function for ' + load +
               ' with unmangled suffix ".resume.0" app.c:21')]
    functions = {'cl': 'closure #1 in Feed.load()', 'sp': 'specialized sort<A>(_:)',
                 'ge': 'sort<A>(_:)'}
    with Daemon() as d:
        upload_all(d, 'B17')
        d.post_reports(read('B17'), status=202)
        d.settle()
        for report, index, text in wanted:
            raw = stack(d, report)[index]
            assert full(raw) == text, (report, full(raw), text)
            assert raw['frames'][0]['function'] == functions.get(report, 'Feed.load()'), raw
            assert raw['frames'][0]['mangled'].lstrip('_').startswith('$s4main4'), raw
        g = {report: group_of(d, report) for report, _, _ in wanted}
        # A closure is its function here, so C is A.
        assert len({g[r] for r in ('a1', 'a2', 'a3', 'cont0', 'cont1', 'cl', 'bad')}) == 1, g
        assert g['sp'] == g['ge'] != g['a1'], g
        titles = {d.get('/v1/clusters/%d' % g[r])['title'] for r in ('a1', 'ge')}
        assert titles == {'Feed.load()', 'sort(_:)'}, titles


@case
def B18():
    """archives: junk passed over, tricks refused, nothing written outside"""
    both, feed = {FEED, PLUG}, {FEED}
    wanted = {'macos.zip': both, 'two_in_one_bundle.zip': both, 'bare_file.zip': feed,
              'streamed.zip': feed, 'zip64.zip': feed, 'slip.zip': (None, feed),
              'symlink.zip': (None, feed), 'overlap.zip': (None, feed), 'bomb_ratio.zip': None,
              'lying_size.zip': None, 'truncated.zip': None, 'not_a_zip.zip': None,
              'empty.zip': None, 'no_symbols.zip': None, 'bad_crc.zip': None}
    for name, want in wanted.items():
        with Daemon() as d:
            start = time.monotonic()
            answer = d.upload(CASES / 'B18' / name)
            assert time.monotonic() - start < 10, name
            stored = {s['uuid'] for s in d.get('/v1/symbols')['items']}
            options = want if isinstance(want, tuple) else (want,)
            if answer.status == 200:
                assert stored in [o for o in options if o], (name, answer, stored)
                if name == 'macos.zip':
                    assert len(answer.json['slices']) == 2, answer
            else:
                assert answer.status in (400, 413, 422) and None in options, (name, answer)
                assert stored == set(), (name, stored)
            left = [p for p in (d.folder / 'data').rglob('*') if 'spool' in p.parts and p.is_file()]
            assert left == [], (name, left)
            assert not list(d.folder.rglob('slip_b18*')), name
    assert not pathlib.Path('/tmp/slip_b18_link').exists()


@case
def B19():
    """DWARF 4 and 5 of one source give the same answers"""
    with Daemon() as d:
        for name in 'v4.dwarf', 'v5.dwarf':
            d.upload(CASES / 'B19' / name, status=200)
        d.post_reports(read('B19'), status=202)
        d.settle()
        for v in 'v5', 'v4':
            expect_frames(d, [(v, 0, 'probe cold.h:5 <- work a.c:3'),
                              (v, 1, 'probe cold.h:5 <- work a.c:5'), (v, 2, 'work a.c:2')])
            file = stack(d, v)[0]['frames'][0]['file']
            assert os.path.normpath(file) == '/src/app/inc/cold.h', file


@case
def B22():
    """damaged DWARF: each upload and lookup ends, outer is found, the daemon lives"""
    with Daemon() as d:
        for path in sorted((CASES / 'B22').iterdir()):
            if path.suffix or not path.is_file():
                continue
            d.request('DELETE', '/v1/symbols/4C4C4434-5555-3144-A155-29738EC5A704')
            start = time.monotonic()
            answer = d.upload(path)
            assert time.monotonic() - start < 3, path.name
            assert answer.status in (200, 422), (path.name, answer)
            report = json.loads(read('B22'))
            report['reports'][0]['id'] = 'b22-' + path.name
            d.post_reports(report, status=202)
            d.settle()
            frames = stack(d, 'b22-' + path.name)
            if path.name in ('self_ref', 'two_cycle', 'ref_past_cu', 'ref_mid_die', 'ref_to_cu_die'):
                assert 'outer' in shown(frames[1]), (path.name, shown(frames[1]))
            if path.name == 'ok_control':
                assert shown(frames[1]) == 'deep deep.h:7 <- mid mid.h:5 <- outer app.c:4'
        assert d.request('GET', '/healthz', token=False).status == 200


@case
def B21():
    """an image's load address and an offset into it are two things; no UUID loses no caller"""
    # The payloads are MetricKit's, whose format is not read yet: their frames, as the native format
    # has them.
    hangs = json.loads(read('B21'))['hangDiagnostics']

    def frames_of(hang):
        frame = hang['callStackTree']['callStacks'][0]['callStackRootFrames'][0]
        while frame:
            yield frame
            frame = (frame.get('subFrames') or [None])[0]

    def offset_frame(frame):
        if 'binaryUUID' not in frame:
            return {'address': frame['address']}
        return {'address': frame['address'], 'uuid': frame['binaryUUID'],
                'offset': frame['offsetIntoBinaryTextSegment']}

    loads = {f['binaryUUID']: {'uuid': f['binaryUUID'], 'name': f['binaryName'],
                               'load_address': f['offsetIntoBinaryTextSegment']}
             for f in frames_of(hangs[1])}
    reports = [{'id': 'b21-offset', 'stack': [offset_frame(f) for f in frames_of(hangs[0])]},
               {'id': 'b21-load', 'images': list(loads.values()),
                'stack': [f['address'] for f in frames_of(hangs[1])]},
               {'id': 'b21-no-uuid', 'stack': [offset_frame(f) for f in frames_of(hangs[2])]}]
    with Daemon() as d:
        upload_all(d, 'B2')
        d.post_reports({'app': {'bundle_id': 'com.example.feed'}, 'reports': reports}, status=202)
        d.settle()
        for report in 'b21-offset', 'b21-load':
            expect_frames(d, [(report, 0, 'plug_wait plug.c:4'), (report, 1, 'load_feed main.c:5'),
                              (report, 2, 'main main.c:8')])
        assert group_of(d, 'b21-offset') == group_of(d, 'b21-load')
        raw = stack(d, 'b21-no-uuid')
        assert [r['status'] for r in raw] == ['resolved', 'no_image', 'resolved'], raw
        assert raw[1]['address'] == '0x102f4001c' and raw[1]['frames'] == [], raw
        expect_frames(d, [('b21-no-uuid', 0, 'plug_wait plug.c:4'),
                          ('b21-no-uuid', 2, 'main main.c:8')])


@case
def B25():
    """no UUID matches nothing; every spelling of one UUID is that UUID"""
    with Daemon() as d:
        for name in 'no_uuid', 'zero_uuid':
            answer = d.upload(CASES / 'B25' / name)
            assert answer.status in (400, 422), (name, answer)
        assert d.get('/v1/symbols')['items'] == []
        answer = d.upload(CASES / 'B25' / 'mixed.zip', status=200).json
        assert sorted(s['state'] for s in answer['slices']) == ['failed', 'failed', 'indexed'], answer
        assert all(s['reason'] for s in answer['slices'] if s['state'] == 'failed'), answer
        result = d.post_reports(read('B25'), status=202).json
        d.settle()
        for report in 'b25-nil0', 'b25-nil1', 'b25-nil2':
            raw = stack(d, report)[0]
            assert (raw['image'], raw['offset'], raw['frames']) == ('Feed', '0x401c', []), raw
        for report in 'b25-form0', 'b25-form1', 'b25-form2', 'b25-form3':
            expect_frames(d, [(report, 0, 'load_feed main.c:5')])
        assert len(result['rejected']) == 2, result
        assert d.get('/v1/symbols/missing')['items'] == []


@case
def B29():
    """timestamps: UTC whatever the server's zone, device clocks not trusted"""
    answers = []
    for zone in 'America/New_York', 'Asia/Kolkata':
        with Daemon(env={'TZ': zone}) as d:
            answer = d.post_reports(read('B29'), status=202).json
            reasons = {r['index']: r['reason'] for r in answer['rejected']}
            d.settle()
            seen = {}
            for n in range(1, 15):
                got = d.request('GET', '/v1/reports/t%02d' % n)
                if got.status == 200:
                    seen['t%02d' % n] = got.json
            times = {k: v['device_timestamp'] for k, v in seen.items()}
            assert times['t01'] == '2024-03-11T04:30:00.000Z', times
            assert times['t02'] == '2024-03-10T19:00:00.000Z', times
            assert times['t03'] == '2024-03-10T12:00:00.000Z', times
            assert times['t04'] == '2024-03-10T12:00:00.123Z', times
            assert times['t07'] == '2024-03-10T12:00:00.123Z', times
            assert times['t11'] == '2017-01-01T00:00:00.000Z', times
            for skewed in 't01', 't06', 't08', 't09':
                assert seen[skewed]['clock_skew'] is True, seen[skewed]
                assert seen[skewed]['timestamp'] == seen[skewed]['received_at'], seen[skewed]
            for refused in 't05', 't10', 't12', 't13':
                assert refused not in seen, refused
            assert seen['t14']['clock_skew'] is False
            answers.append((times, reasons))
    assert answers[0] == answers[1]


if failures:
    print('%d failed: %s' % (len(failures), ' '.join(failures)))
sys.exit(1 if failures else 0)
