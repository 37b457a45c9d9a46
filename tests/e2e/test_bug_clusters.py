#!/usr/bin/env python3
"""Public faults of grouping (B-numbers) as libraries made here, their dSYMs sent to the real daemon,
and reports whose frames lie in their functions: which reports are one cluster, and which are not."""
import pathlib
import sys
import tempfile

from daemon import Daemon, skip
from objectlab import TOOLS, Lab, MachO

absent = [name for name in ('clang', 'ld64.lld', 'dsymutil') if not TOOLS[name]]
if absent:
    skip('no ' + ', '.join(absent))
failures = []
LOAD = 0x104000000


class App:
    """One library, its dSYM and reports with frames of it."""

    def __init__(self, daemon, lab, name, sources, *flags, link=()):
        self.daemon, self.name = daemon, name
        self.library, self.dsym = lab.library(name, sources, *flags, link=link)
        self.macho = MachO(self.library.read_bytes())
        self.start = self.macho.symbols()
        data = self.macho.data
        at = self.macho.at(0x1b)
        self.uuid = bytes(data[at + 8:at + 24]).hex()

    def image(self):
        return {**({'uuid': self.uuid} if self.uuid else {}), 'name': self.name, 'load_address': hex(LOAD), 'size': 0x8000,
                'path': '/private/var/containers/Bundle/Application/A/Lab.app/' + self.name}

    def frame(self, symbol, at=4):
        return hex(LOAD + self.start[symbol] + at)

    def report(self, name, *frames, **more):
        stack = [self.frame(f) if isinstance(f, str) and f.startswith('_') else f for f in frames]
        self.daemon.post_reports({'app': {'bundle_id': 'com.example.lab', 'version': '1'},
                                  'images': [self.image()],
                                  'reports': [{'id': name, 'kind': 'stall', 'duration_ms': 900,
                                               'stack': stack, **more}]}, status=202)

    def upload(self):
        self.daemon.upload(self.dsym, status=200)

    def clusters(self, *names):
        self.daemon.settle()
        return [self.daemon.get('/v1/reports/' + n)['cluster_id'] for n in names]


def case(function):
    if len(sys.argv) > 1 and function.__name__ not in sys.argv[1:]:
        return function
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Daemon() as daemon:
                function(daemon, Lab(folder))
            print('ok: %s: %s' % (function.__name__, function.__doc__))
        except Exception as error:  # the other cases still run
            failures.append(function.__name__)
            print('FAILED: %s: %s\n   %s: %s' % (function.__name__, function.__doc__,
                                                 type(error).__name__, error))
    return function


CODE = {'app.c': '''int sink;
#define WORK __attribute__((noinline)) void
WORK walk(int n) { sink += n; }
WORK ping(int n) { sink -= n; }
WORK pong(int n) { sink *= n; }
WORK start_walk(int n) { walk(n); walk(n + 1); }
WORK other_walk(int n) { walk(n); sink++; walk(n + 2); }
WORK start_game(int n) { ping(n); pong(n); }
'''}


@case
def B26(d, lab):
    """recursion of any depth, and of two functions in turn, is one cluster"""
    app = App(d, lab, 'libwalk.dylib', CODE)
    for late in (False, True):
        app.report('w3%d' % late, *['_walk'] * 3, '_start_walk')
        app.report('w40%d' % late, *['_walk'] * 40, '_start_walk')
        app.report('cut%d' % late, *['_walk'] * 400)
        app.report('g2%d' % late, *['_ping', '_pong'] * 2, '_start_game')
        app.report('g9%d' % late, *['_ping', '_pong'] * 9, '_start_game')
        if not late:
            app.upload()
    walks = app.clusters('w30', 'w400', 'cut0', 'w31', 'w401', 'cut1')
    games = app.clusters('g20', 'g90', 'g21', 'g91')
    assert len(set(walks)) == len(set(games)) == 1 and walks[0] != games[0], (walks, games)
    assert d.get('/v1/clusters/%d' % walks[0])['title'] == 'walk'


@case
def B27(d, lab):
    """outlined pieces have no identity, folded twins have one"""
    sources = {'app.c': '''int a[64], b[64];
void left(int n) { for (int i = 0; i < 64; i++) { a[i] += n; b[i] = a[i] * 7; } b[1] = 0; }
void right(int n) { for (int i = 0; i < 64; i++) { a[i] += n; b[i] = a[i] * 7; } b[2] = 1; }
''', 'piece.s': '''.text
.globl _OUTLINED_FUNCTION_3
.p2align 2
_OUTLINED_FUNCTION_3:
    nop
    nop
    ret
''', 'twins.s': '''.text
.globl _one_twin
.globl _two_twin
.p2align 2
_one_twin:
_two_twin:
    nop
    nop
    ret
'''}
    app = App(d, lab, 'libpiece.dylib', sources, '-O2')
    app.upload()
    app.report('l', '_OUTLINED_FUNCTION_3', '_left')
    app.report('l2', '_left')
    app.report('r', '_OUTLINED_FUNCTION_3', '_right')
    app.report('t1', '_one_twin')
    app.report('t2', '_two_twin')
    left, bare, right, one, two = app.clusters('l', 'l2', 'r', 't1', 't2')
    assert left == bare != right, (left, bare, right)
    assert app.start['_one_twin'] == app.start['_two_twin'] and one == two, (one, two)
    titles = {d.get('/v1/clusters/%d' % c)['title'] for c in (left, right, one)}
    assert {'left', 'right'} < titles and titles & {'one_twin', 'two_twin'}, titles


@case
def B46(d, lab):
    """two static functions of one name in two files are two functions and two clusters (B47)"""
    twin = '''extern int sink;
static __attribute__((noinline)) void tick(int n) { sink %s n; }
void run_%s(int n) { tick(n); sink++; }
'''
    app = App(d, lab, 'libtick.dylib', {'left.c': twin % ('+=', 'left'),
                                        'right.c': twin % ('-=', 'right'), 'sink.c': 'int sink;'})
    app.upload()
    m = MachO(app.dsym.read_bytes())
    text = m.sections['__text']
    # Where the two are: neither is exported, the frames say which is which.
    for at in range(text['address'], text['address'] + text['size'], 4):
        app.report('at%x' % at, hex(LOAD + at))
    d.settle()
    groups = {}
    for at in range(text['address'], text['address'] + text['size'], 4):
        report = d.get('/v1/reports/at%x' % at)
        for f in report['stack'][0]['frames'][:1]:
            groups.setdefault((f['function'], f['file']), set()).add(report['cluster_id'])
    ticks = {key: ids for key, ids in groups.items() if key[0] == 'tick'}
    assert len(ticks) == 2 and all(len(ids) == 1 for ids in ticks.values()), groups
    assert len(set.union(*ticks.values())) == 2, ticks


@case
def B53(d, lab):
    """another call site inside one function is the same cluster"""
    app = App(d, lab, 'libsite.dylib', CODE)
    app.upload()
    for at in (4, 8, 12):
        app.report('s%d' % at, '_walk', app.frame('_other_walk', at))
    assert len(set(app.clusters('s4', 's8', 's12'))) == 1
    stacks = d.get('/v1/clusters/%d' % app.clusters('s4')[0])
    assert stacks['count'] == 3, stacks['count']


@case
def B54(d, lab):
    """no thread says that it stalled: thread 0 is the report's stack, never another"""
    app = App(d, lab, 'libthreads.dylib', CODE)
    app.upload()
    threads = [{'tid': 100 + k, 'stalled': False,
                'stack': [app.frame('_walk' if k == 0 else '_ping')]} for k in range(19)]
    d.post_reports({'app': {'bundle_id': 'com.example.lab', 'version': '1'},
                    'images': [app.image()],
                    'reports': [{'id': 't', 'kind': 'stall', 'duration_ms': 900,
                                 'threads': threads}]}, status=202)
    assert d.get('/v1/clusters/%d' % app.clusters('t')[0])['title'] == 'walk'


@case
def B52(d, lab):
    """thunks and closures are the function they belong to; no keyword or number is a key"""
    app = App(d, lab, 'libnone.dylib', CODE)
    app.uuid = None  # or the names would wait for a symbol file
    names = {'thunk': ['thunk for @escaping @callee_guaranteed () -> ()', 'Feed.load()'],
             'plain': ['Feed.load()'],
             'closure': ['closure #1 (T1) in foo(bar: T2)'], 'foo': ['foo(bar: T2)'],
             'static': ['static A.b() throws -> C?']}
    for name, symbols in names.items():
        app.report(name, *[{'address': hex(LOAD + 0x100 * (k + 1)), 'symbol': s}
                           for k, s in enumerate(symbols)])
    thunk, plain, closure, foo, static = app.clusters(*names)
    assert thunk == plain and closure == foo and len({plain, foo, static}) == 3, names
    for cluster in (plain, foo, static):
        title = d.get('/v1/clusters/%d' % cluster)['title']
        assert title.split('(')[0] in ('Feed.load', 'foo', 'static b'), title


@case
def B55(d, lab):
    """a watchdog of an SDK inside the app's own image is never the cause"""
    app = App(d, lab, 'libsdk.dylib', CODE)
    for k, top in enumerate(('-[SentryHub captureEvent:]', 'SentryCrashMonitor_AppHang',
                             '+[Bugsnag notify:]', 'kscrash_report')):
        app.report('sdk%d' % k, {'address': hex(LOAD + 0x100), 'symbol': top},
                   {'address': hex(LOAD + 0x200), 'symbol': 'Feed.load()'})
    app.report('own', {'address': hex(LOAD + 0x200), 'symbol': 'Feed.load()'})
    assert len(set(app.clusters('sdk0', 'sdk1', 'sdk2', 'own'))) == 1, \
        app.clusters('sdk0', 'sdk1', 'sdk2', 'sdk3', 'own')


if failures:
    sys.exit('%d failed: %s' % (len(failures), ' '.join(failures)))
