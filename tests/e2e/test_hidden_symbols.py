"""B39: names that the App Store hid, and the maps that restore them: with the dSYM, after it, before
it. Own files, and the real one of the shared data where it is there.

Covers: server/jobs/index_restore.c server/jobs/index_restore_own.c server/jobs/hidden_names.c
"""
import io, json, time, uuid, zipfile
from daemon import DATA, Daemon
from systemlab import STEP, dylib

REAL = DATA / 'symbols/hidden/2d10c42f-591d-3265-b147-78ba0868073f.dwarf-hidden'
REAL_ID = '2D10C42F-591D-3265-B147-78BA0868073F'


def ids(name):
    made = [str(uuid.uuid5(uuid.NAMESPACE_URL, name + x)).upper() for x in ('store', 'built')]
    return made


def link(built):
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n<dict>\n'
            '\t<key>DBGOriginalUUID</key>\n\t<string>%s</string>\n</dict>\n</plist>\n' % built)


def map_of(names):
    return 'BCSymbolMap Version: 2.0\n' + ''.join(x + '\n' for x in names)


NAMES = ['_%s' % x for x in ('reload', 'poll', 'draw')] + ['\x01-[Feed open:]']


def zipped(files):
    body = io.BytesIO()
    with zipfile.ZipFile(body, 'w', zipfile.ZIP_DEFLATED) as z:
        for name, data in files:
            z.writestr(name, data)
    return body.getvalue()


def dsym(store, built, path=None):
    """As the store gives it back: its functions ___hidden#0_ and on, its link beside them."""
    root = store + '.dSYM/Contents/Resources/'
    data = dylib('/x/Feed', 0, uuid.UUID(store), ['___hidden#%d_' % i for i in range(4)])
    return [(root + 'DWARF/Feed', data), (root + store + '.plist', link(built))]


def post(d, identity, store, functions):
    stack = [hex(0x100000000 + 0x1000 + i * STEP + 8) for i in functions]
    d.post_reports({'app': {'bundle_id': 'com.example.shop', 'version': '1'},
                    'device': {'model': 'iPhone14,7', 'os_version': '15.1'},
                    'images': [{'uuid': store, 'name': 'Feed', 'load_address': '0x100000000',
                                'path': '/var/containers/Bundle/Application/A/Shop.app/Feed'}],
                    'reports': [{'id': identity, 'duration_ms': 900, 'stack': stack}]}, status=202)


def functions(d, identity):
    d.settle()
    stack = d.get('/v1/reports/%s?bundle_id=com.example.shop' % identity)['stack']
    return [f['frames'][0]['function'] if f['frames'] else None for f in stack]


def cluster_of(d, identity):
    d.settle()
    report = d.get('/v1/reports/%s?bundle_id=com.example.shop' % identity)
    return d.get('/v1/clusters/%d' % report['cluster_id'])


def map_after_its_dsym(d):
    store, built = ids('after')
    post(d, 'after', store, [0, 3])
    answer = d.upload(zipped(dsym(store, built)), 'wait=1', 200).json
    assert built + '.bcsymbolmap' in answer['slices'][0]['reason'], answer
    assert functions(d, 'after') == ['<hidden>', '<hidden>']
    cluster = cluster_of(d, 'after')
    assert '<hidden>' not in cluster['title'] and '#' not in cluster['title'], cluster['title']
    assert cluster['title'].startswith('Feed+?'), cluster['title']
    # Another build, other numbers: the same cause, as far as anybody can tell.
    other, other_built = ids('after2')
    d.upload(zipped(dsym(other, other_built)), 'wait=1', 200)
    post(d, 'other-build', other, [1, 2])
    assert cluster_of(d, 'other-build')['id'] == cluster['id']

    answer = d.upload(zipped([('BCSymbolMaps/%s.bcsymbolmap' % built, map_of(NAMES))]), 'wait=1',
                      200).json
    assert answer['state'] == 'indexed' and '1 indexes made anew' in answer['reason'], answer
    assert [s['uuid'] for s in answer['slices']] == [store], answer
    assert 'restored' in answer['slices'][0]['reason'], answer
    assert functions(d, 'after') == ['reload', '-[Feed open:]']
    assert cluster_of(d, 'after')['title'].startswith('reload')
    assert functions(d, 'other-build') == ['<hidden>', '<hidden>']
    # The dSYM once more, packed anew, without its map: what is known stays.
    d.upload(zipped(dsym(store, built) + [('x', b'x')]), 'wait=1', 200)
    assert functions(d, 'after') == ['reload', '-[Feed open:]']


def map_before_its_dsym(d):
    store, built = ids('before')
    post(d, 'before', store, [1])
    answer = d.upload(zipped([(built + '.bcsymbolmap', map_of(NAMES))]), 'wait=1', 200).json
    assert answer['state'] == 'indexed' and answer['slices'] == [], answer
    assert 'kept' in answer['reason'], answer
    d.restart()
    answer = d.upload(zipped(dsym(store, built)), 'wait=1', 200).json
    assert answer['slices'][0]['reason'] is None, answer
    assert functions(d, 'before') == ['poll']


def map_beside_its_dsym(d):
    store, built = ids('beside')
    post(d, 'beside', store, [2])
    answer = d.upload(zipped(dsym(store, built) + [(built + '.bcsymbolmap', map_of(NAMES))]),
                      'wait=1', 200).json
    assert [s['reason'] for s in answer['slices']] == [None], answer
    assert functions(d, 'beside') == ['draw']


def bound_token(d, app):
    answer = d.request('POST', '/v1/admin/tokens', json.dumps(
        {'name': app, 'scopes': ['symbols'], 'bundle_id': app}).encode(),
        {'Content-Type': 'application/json'})
    return answer.json['token']


def send(d, files, who=True):
    answer = d.request('POST', '/v1/symbols?wait=1', zipped(files),
                       {'Content-Type': 'application/octet-stream'}, who)
    assert answer.status == 200 and answer.json['state'] == 'indexed', answer
    return answer.json


def map_for_all_after_own_dsyms(d):
    """A map that serves all is for apps' own indexes, too, whatever the order; the map of one app is for
    its own alone. Two apps sent the same dSYM, each with its own link to the map."""
    store, built = ids('own')
    shop, other = (bound_token(d, x) for x in ('com.example.shop', 'com.example.other'))
    post(d, 'own', store, [0, 1])
    for who in (shop, other):
        send(d, dsym(store, built), who)
    assert functions(d, 'own') == ['<hidden>', '<hidden>']
    foreign = [x + 'Foreign' for x in NAMES]
    send(d, [(built + '.bcsymbolmap', map_of(foreign))], other)
    assert functions(d, 'own') == ['<hidden>', '<hidden>']
    send(d, [(built + '.bcsymbolmap', map_of(NAMES))])
    for _ in range(200): # a moment later
        if functions(d, 'own') == ['reload', 'poll']:
            break
        time.sleep(0.05)
    assert functions(d, 'own') == ['reload', 'poll']
    # What one app sends later changes nothing of what others have.
    send(d, [(built + '.bcsymbolmap', map_of(foreign[::-1]))], other)
    assert functions(d, 'own') == ['reload', 'poll']


def maps_that_are_none(d):
    store, built = ids('bad')
    for text, word in ((b'BCSymbolMap Version: 2.0\n\xff\xfe\n', 'line 2'),
                       (b'BCSymbolMap Version: 9.0\nx\n', '9.0'),
                       (b'BCSymbolMap Version: 2.0\n', 'no names')):
        answer = d.upload(zipped([(built + '.bcsymbolmap', text)]))
        assert answer.status == 422 and word in answer.json['detail'], answer
    answer = d.upload(zipped([('Feed.bcsymbolmap', map_of(NAMES))]))
    assert answer.status == 422 and 'UUID.bcsymbolmap' in answer.json['detail'], answer
    answer = d.upload(map_of(NAMES).encode())
    assert answer.status == 400 and 'zip' in answer.json['detail'], answer
    # A map of another build is too short: what it has no name for stays hidden, and says so.
    answer = d.upload(zipped(dsym(store, built) + [(built + '.bcsymbolmap', map_of(NAMES[:2]))]),
                      'wait=1', 200).json
    assert '2 names stay hidden' in answer['slices'][0]['reason'], answer


def object_is_gone():
    with Daemon(env={'STALLSYM_SYMBOLS_KEEP_OBJECTS': 'no'}) as d:
        store, built = ids('gone')
        d.upload(zipped(dsym(store, built)), 'wait=1', 200)
        answer = d.upload(zipped([(built + '.bcsymbolmap', map_of(NAMES))]), 'wait=1', 200).json
        assert store in answer['reason'] and 'send the dSYM again' in answer['reason'], answer
        d.upload(zipped(dsym(store, built) + [('x', b'x')]), 'wait=1', 200)
        post(d, 'gone', store, [0])
        assert functions(d, 'gone') == ['reload']


def real_one(d):
    if not REAL.exists():
        print('skipped: no ' + str(REAL))
        return
    names = ['-[Real method%d]' % i for i in range(20000)]
    names[41], names[42] = '/src/sdk', 'Feed.m'
    d.upload(REAL, 'wait=1', 200)
    d.post_reports({'app': {'bundle_id': 'com.example.shop', 'version': '1'},
                    'images': [{'uuid': REAL_ID, 'name': 'Kit', 'load_address': '0x100000000'}],
                    'reports': [{'id': 'real', 'duration_ms': 900, 'stack': ['0x100005ad4']}]},
                   status=202)
    d.settle()
    frame = d.get('/v1/reports/real?bundle_id=com.example.shop')['stack'][0]['frames'][0]
    assert frame['function'] == '<hidden>' and frame['file'] is None and frame['line'] is None, frame
    d.upload(zipped([(REAL_ID + '.bcsymbolmap', map_of(names))]), 'wait=1', 200)
    d.settle()
    frame = d.get('/v1/reports/real?bundle_id=com.example.shop')['stack'][0]['frames'][0]
    assert (frame['function'], frame['file'], frame['line']) == (
        '-[Real method0]', '/src/sdk/Feed.m', 13), frame


def main():
    with Daemon() as d:
        map_after_its_dsym(d)
        map_before_its_dsym(d)
        map_beside_its_dsym(d)
        map_for_all_after_own_dsyms(d)
        maps_that_are_none(d)
        real_one(d)
    object_is_gone()


main()
