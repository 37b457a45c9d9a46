#!/usr/bin/env python3
"""Swift names of a real dSYM wherever they show: the simplified form in frames and lists, the full
one in details, the linkage name kept; one cluster for a function and what was made of it."""
import json
import sys
from daemon import DATA, Daemon, skip

DSYM = DATA / 'symbols/shop/Shop.dSYM/Contents/Resources/DWARF/Shop'
UUID = '4C4C4422-5555-3144-A139-26B8E3448DBB'
LOAD = 0x104000000

# offset in __TEXT, linkage name, shown, in full
FUNCTIONS = [
    (0x42b8, '$s4Shop4workySiAA4HomeCYaF', 'work(_:)', 'Shop.work(Shop.Home) async -> Swift.Int'),
    (0x42d0, '$s4Shop4workySiAA4HomeCYaFTY0_', 'work(_:)',
     '(1) suspend resume partial function for Shop.work(Shop.Home) async -> Swift.Int'),
    (0x44b8, '$s4Shop3BoxV3mapyACyqd__Gqd__xXElF', 'Box.map<A>(_:)',
     'Shop.Box.map<A>((A) -> A1) -> Shop.Box<A1>'),
    (0x4708, '$s4Shop4HomeC5itemsSDySSSiGvM.resume.0', 'Home.items.modify',
     'Shop.Home.items.modify : [Swift.String : Swift.Int] with unmangled suffix ".resume.0"'),
    (0x470c, '$s4Shop4HomeCyS2icig', 'Home.subscript.getter',
     'Shop.Home.subscript.getter : (Swift.Int) -> Swift.Int'),
    (0x4bcc, '$s4Shop4HomeC3runySSSiYaKF', 'Home.run(_:)',
     'Shop.Home.run(Swift.Int) async throws -> Swift.String'),
    (0x4c10, '$s4Shop4HomeC3runySSSiYaKFTQ0_', 'Home.run(_:)',
     '(1) await resume partial function for Shop.Home.run(Swift.Int) async throws -> Swift.String'),
    (0x4c74, '$s4Shop4HomeC2eeoiySbAC_ACtFZ', 'static Home.== infix(_:_:)',
     'static Shop.Home.== infix(Shop.Home, Shop.Home) -> Swift.Bool'),
    (0x4f18, '$s4Shop4HomeCfD', 'Home.__deallocating_deinit', 'Shop.Home.__deallocating_deinit'),
    (0x4fc4, '$s4Shop4HomeCAA1PA2aDP3runySSSiYaKFTW',
     'protocol witness for P.run(_:) in conformance Home',
     'protocol witness for Shop.P.run(Swift.Int) async throws -> Swift.String in conformance '
     'Shop.Home : Shop.P in Shop'),
    (0x5014, '$sSa4ShopSLRzlE3topys10ArraySliceVyxGSiF', 'Array<A>.top(_:)',
     '(extension in Shop):Swift.Array<A where A: Swift.Comparable>.top(Swift.Int) -> '
     'Swift.ArraySlice<A>'),
    (0x64a0, '$s4Shop4HomeC3runySSSiYaKFTf4nd_n', 'specialized Home.run(_:)',
     'function signature specialization <Arg[1] = Dead> of Shop.Home.run(Swift.Int) async throws '
     '-> Swift.String'),
]
IMAGES = [{'name': 'Shop', 'uuid': UUID, 'load_address': hex(LOAD), 'size': 0xc000,
           'arch': 'arm64', 'path': '/var/containers/Shop.app/Shop'}]

# What devices may say themselves: as it came, shown, in full.
DEVICE = [
    ('_$s4Shop4HomeC3runySSSiYaKFTQ0_', 'Home.run(_:)', FUNCTIONS[6][3]),
    ('$s4Shop4HomeC3runySSSiYaKFyyYacfU_', 'closure #1 in Home.run(_:)',
     'closure #1 () async -> () in Shop.Home.run(Swift.Int) async throws -> Swift.String'),
    ('_ZN4shop4CartC1Ev', 'shop::Cart::Cart()', None),
    ('-[Cart open]', '-[Cart open]', None),
    ('$s4Shop4Hom', '$s4Shop4Hom', None),
]


def frame(offset):
    return {'address': hex(LOAD + offset), 'kind': 'exact'}


def report(name, stack, images=IMAGES):
    return {'id': name, 'bundle_id': 'com.example.shop', 'app_version': '1.0', 'os_version': '17.4',
            'duration_ms': 1500, 'timestamp': '2026-08-11T10:00:00Z', 'images': images,
            'stack': stack}


def outermost(raw):
    f = raw['frames'][-1]
    return f['mangled'], f['function'], f['full']


def check_symbolicate(daemon):
    body = {'images': IMAGES, 'stacks': [[frame(f[0]) for f in FUNCTIONS]]}
    answer = daemon.request('POST', '/v1/symbolicate', json.dumps(body),
                            {'Content-Type': 'application/json'})
    assert answer.status == 200, answer
    got = [outermost(raw) for raw in answer.json['stacks'][0]]
    assert got == [f[1:] for f in FUNCTIONS], got


def check_details(daemon):
    for at, f in enumerate(FUNCTIONS):
        got = daemon.get('/v1/reports/f%d' % at)
        assert outermost(got['stack'][0]) == f[1:], (f, got)
        cluster = daemon.get('/v1/clusters/%d' % got['cluster_id'])
        shown = [outermost(raw) for raw in cluster['stack']]
        assert all(full and full != function for _, function, full in shown), shown
    in_lists = json.dumps(daemon.get('/v1/clusters?include_hidden=1')['items'])
    assert 'Home.run(_:)' in in_lists, in_lists
    for full_only in 'Shop.Home', 'Swift.', '$s4Shop4HomeC':
        assert full_only not in in_lists, in_lists


def check_device_names(daemon):
    for at, (symbol, function, full) in enumerate(DEVICE):
        raw = daemon.get('/v1/reports/d%d' % at)['stack'][0]
        f = raw['frames'][0]
        mangled = symbol if symbol != function else None
        assert (f['function'], f['full'], f['mangled']) == (function, full, mangled), f


def check_clusters(daemon):
    """By function: names from an index and from a device, in parts and whole."""
    def cluster(name):
        return daemon.get('/v1/reports/' + name)['cluster_id']

    run = {cluster(name) for name in ('f5', 'f6', 'f9', 'f11', 'd0', 'd1')}
    assert len(run) == 1, run
    assert cluster('f0') == cluster('f1'), 'work(_:) and its part'
    whole = {cluster('f%d' % at) for at in range(len(FUNCTIONS))}
    assert len(whole) == 8, whole  # work, map, items, subscript, run, ==, deinit, top


if not DSYM.is_file():
    skip('no dSYM at ' + str(DSYM))
with Daemon() as d:
    d.upload(DSYM, status=200)
    reports = [report('f%d' % at, [frame(f[0])]) for at, f in enumerate(FUNCTIONS)]
    # Outside of every function, so that the device's name is the only one.
    reports += [report('d%d' % at, [dict(frame(0x100), symbol=symbol)])
                for at, (symbol, _, _) in enumerate(DEVICE)]
    d.post_reports({'reports': reports}, status=202)
    d.settle()
    check_symbolicate(d)
    check_details(d)
    check_device_names(d)
    check_clusters(d)
print('ok: %d functions in full, %d names of devices' % (len(FUNCTIONS), len(DEVICE)))
sys.exit(0)
