#!/usr/bin/env python3
"""Public faults of programs that read symbol files (B-numbers), as inputs made here from source text
and by patching bytes, through `stallsymd index` and `lookup`. What is right stands in the sources."""
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

from objectlab import PROGRAM, TOOLS, Index, Lab, MachO, index

missing = [name for name in ('clang', 'ld64.lld', 'dsymutil') if not TOOLS[name]]
if missing:
    print('skipped: no ' + ', '.join(missing))
    sys.exit(77)

ARM64 = 0x0100000c
failures, ran = [], 0


def case(function):
    global ran
    if len(sys.argv) > 1 and function.__name__ not in sys.argv[1:]:
        return function
    with tempfile.TemporaryDirectory() as folder:
        try:
            function(Lab(folder), pathlib.Path(folder) / 'out')
            ran += 1
        except Exception as error:  # the other cases still run
            failures.append(function.__name__)
            print('FAILED: %s: %s\n   %s: %s' % (function.__name__, function.__doc__,
                                                 type(error).__name__, str(error)[:2000]))
    return function


TWO = {'app.c': '''int sink;
__attribute__((noinline)) void alive(int n)
{
    sink += n;
}
__attribute__((noinline)) void victim(int n)
{
    sink -= n;
}
void entry(int n)
{
    alive(n);
    victim(n);
    sink++;
}
'''}


@case
def B6(lab, out):
    """Dead functions at 0 and at ~0 answer for nobody."""
    library, dsym = lab.library('libdead.dylib', TWO)
    m = MachO(dsym.read_bytes())
    start = m.symbols()
    for low, length in ((0, 0x9000), (2**64 - 1, 0x9000), (2**64 - 2, 0x100), (1, 0x9000)):
        patched = MachO(bytes(m.data))
        # addr low_pc, then data4 high_pc
        at = patched.find('__debug_info', struct.pack('<Q', start['_victim']), 0)
        patched.poke(at, '<QI', low, length)
        i = Index(lab.put('patched', bytes(patched.data)), out)
        assert i.at(start['_alive']).startswith('alive app.c'), i.at(start['_alive'])
        assert i.at(start['_entry']).startswith('entry app.c'), i.at(start['_entry'])
        assert i.at(0, 1, 0x40) == ['', '', ''], 'the header is no function'
        # Its code is there all the same, says the symbol table.
        assert i.at(start['_victim']).startswith('victim '), i.at(start['_victim'])


@case
def B7(lab, out):
    """Names through references over units (link-time optimisation)."""
    sources = {'a.c': '''int noise(int);
int checksum(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += noise(i) * 31;
    return sum;
}
''', 'b.c': '''int noise(int);
int checksum(int n);
int render(int n)
{
    noise(n);
    return checksum(n) + 1;
}
'''}
    library, dsym = lab.library('liblto.dylib', sources, '-flto', link=(
        '-object_path_lto', 'lto.o', '-exported_symbol', '_render'))
    m = MachO(dsym.read_bytes())
    i = Index(dsym, out)
    start = m.symbols()['_render']
    answers = i.answers(start, 0x80)
    assert any(a.startswith('checksum a.c:') and a.endswith('<- render b.c:6') for a in answers), \
        answers


@case
def B13(lab, out):
    """Stubs, padding, data and the header have no function; symbols end where they end."""
    library, dsym = lab.library('libgaps.dylib', {'gaps.c': '''extern void elsewhere(void);
int table[64] = {1};
void first(void)
{
    elsewhere();
}
__attribute__((aligned(256))) void second(void)
{
    elsewhere();
    table[0]++;
}
''', 'hand.s': '''.text
.globl _by_hand
.p2align 2
_by_hand:
    nop
    nop
    ret
'''})
    for path in (dsym, library):  # with DWARF, and from the symbol table (stabs in it) alone
        m = MachO(library.read_bytes())
        names = m.symbols()
        i = Index(path, out)
        assert i.at(names['_first']).startswith('first'), i.at(names['_first'])
        assert i.at(names['_second'] + 4).startswith('second')
        assert i.at(names['_by_hand'] + 8).startswith('by_hand'), i.at(names['_by_hand'] + 8)
        stubs, data = m.sections['__stubs'], m.sections['__data']
        assert i.at(stubs['address'], stubs['address'] + 8) == ['', ''], 'stubs'
        assert i.at(data['address'], data['address'] + 100) == ['', ''], 'data'
        assert i.at(0, 0x20) == ['', ''], 'header'
        text = m.sections['__text']
        assert i.at(text['address'] + text['size'], text['address'] - 4) == ['', ''], 'around'
    i = Index(dsym, out)
    assert i.at(names['_second'] - 4) == '', 'padding: ' + i.at(names['_second'] - 4)


@case
def B16(lab, out):
    """One underscore is Mach-O's, the others are the name's; blocks are their function."""
    library, dsym = lab.library('libnames.dylib', {'names.m': '''
extern void later(void (^)(void)) ;
void _under(void) { later(^{ later(0); }); }
void __twice(void) { later(0); }
''', 'more.cc': '''extern "C" void poke(int);
namespace net { struct Client { int poll(int); }; int Client::poll(int n) { poke(n); return n; } }
template <class T> T twice(T v) { poke(1); return v + v; }
template int twice<int>(int);
'''}, '-fblocks')
    i, start = Index(dsym, out), MachO(library.read_bytes()).symbols()
    wanted = {'__under': '_under', '___twice': '__twice', '____under_block_invoke': '_under block',
              '__ZN3net6Client4pollEi': 'net::Client::poll(int)', '__Z5twiceIiET_S0_':
              'int twice<int>(int)'}
    for symbol, name in wanted.items():
        got = i.at(start[symbol]).rsplit(' ', 1)[0]
        assert got == name, (symbol, got)


@case
def B23(lab, out):
    """Every four bytes of the headers may lie: an answer in time, a reason, no crash."""
    library, dsym = lab.library('liblies.dylib', TWO)
    m = MachO(dsym.read_bytes())
    size = struct.unpack_from('<I', m.data, 20)[0] + 32
    pick = random.Random(23)
    places = [(at, value) for at in range(0, size, 4)
              for value in (0, 1, 0x7fffffff, 0x80000000, 0xffffffff)]
    for at, value in pick.sample(places, 150):
        path = lab.put('lie', bytes(MachO(bytes(m.data)).poke(at, '<I', value).data))
        code, slices, error = index(path, out, timeout=20)
        reasons = [s['reason'] for s in slices if s['state'] == 'failed']
        assert code in (0, 1, 3), (at, value, code)
        assert all(reasons) and (code == 0 or error or reasons), (at, value, code, error)


@case
def B24(lab, out):
    """Archs are printed right, whatever capability bits their subtype has."""
    pairs = [(ARM64, 0, 'arm64'), (ARM64, 1, 'arm64'), (ARM64, 2, 'arm64e'),
             (ARM64, 0x80000002, 'arm64e'), (ARM64, 0x81000002, 'arm64e'),
             (ARM64, 0xc0000002, 'arm64e'), (0x01000007, 3, 'x86_64'),
             (0x01000007, 0x80000003, 'x86_64'), (0x01000007, 8, 'x86_64h'),
             (0x0200000c, 1, 'arm64_32')]
    library, dsym = lab.library('libarch.dylib', TWO)
    for cputype, subtype, arch in pairs:
        m = MachO(dsym.read_bytes()).poke(4, '<2I', cputype, subtype)
        i = Index(lab.put('arch', bytes(m.data)), out)
        assert i.slice['arch'] == arch, (hex(cputype), hex(subtype), i.slice['arch'])


@case
def B27(lab, out):
    """Folded twins and outlined pieces: one address, one answer, name and file of one source."""
    twins = {'left.c': 'int sink;\nint left(int n)\n{\n    sink += n;\n    return n * 7;\n}\n',
             'right.c': 'extern int sink;\nint right(int n)\n{\n    sink += n;\n'
                        '    return n * 7;\n}\n'}
    library, dsym = lab.library('libicf.dylib', twins, '-O2', link=('--icf=all',))
    names = MachO(library.read_bytes()).symbols()
    i = Index(dsym, out)
    for name in ('_left', '_right'):
        answer = i.at(names[name])
        assert answer.split(':')[0] in ('left left.c', 'right right.c'), answer
        assert answer == i.at(names[name]), 'the same each time'
    again = pathlib.Path(str(out) + '2')
    assert Index(dsym, again).gsym.read_bytes() == i.gsym.read_bytes()


@case
def B30(lab, out):
    """Where sections of a dSYM lie: by their offset, not by vmaddr or the segment's file range."""
    library, dsym = lab.library('libplace.dylib', TWO)
    plain = MachO(dsym.read_bytes())
    wanted = None
    start = plain.symbols()
    changes = {
        'as it is': lambda m: m,
        '__TEXT claims file bytes past the end': lambda m: m.poke(
            m.segments['__TEXT']['at'] + 40, '<2Q', 0x10000000, 0x20000000),
        '__DWARF has another vmaddr': lambda m: m.poke(
            m.segments['__DWARF']['at'] + 24, '<Q', 0x7000000000),
        'an empty section past the end': lambda m: m.poke(
            m.sections['__text']['at'] + 48, '<I', 0x7fffffff),
        'sections of __DWARF with other addresses': lambda m: [m.poke(
            m.sections[s]['at'] + 32, '<Q', 0x123456789000) for s in m.sections
            if s.startswith('__debug')] and m,
    }
    for what, change in changes.items():
        m = change(MachO(bytes(plain.data)))
        i = Index(lab.put('placed', bytes(m.data)), out)
        answers = i.at(start['_alive'], start['_victim'], start['_entry'] + 8)
        wanted = wanted or answers
        assert answers == wanted and wanted[0].startswith('alive app.c:'), (what, answers)


def peak_of(*command):
    """Exit status and peak resident memory in kB of a child of its own."""
    script = ('import resource, subprocess, sys\n'
              'code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL,\n'
              '                      stderr=subprocess.DEVNULL).returncode\n'
              'print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n')
    done = subprocess.run([sys.executable, '-c', script, *command], capture_output=True, text=True,
                          check=True)
    code, peak = done.stdout.split()
    return int(code), int(peak)


@case
def B32(lab, out):
    """A gigabyte of padding costs no memory."""
    library, dsym = lab.library('libbig.dylib', TWO)
    path = lab.put('padded', dsym.read_bytes())
    os.truncate(path, 1 << 30)
    code, peak = peak_of(PROGRAM, 'index', str(path), '-o', str(out))
    assert code == 0 and peak < 100 * 1024, (code, peak)


@case
def B33(lab, out):
    """A hundred thousand lookups, once and ten times over: memory stays."""
    library, dsym = lab.library('libmany.dylib', TWO)
    i = Index(dsym, out)
    start = MachO(library.read_bytes()).symbols()['_alive']
    script = ('import subprocess, sys\n'
              'p = subprocess.Popen([sys.argv[1], "lookup", sys.argv[2]], stdin=subprocess.PIPE,\n'
              '                     stdout=subprocess.DEVNULL)\n'
              'def rss():\n'
              '    for line in open("/proc/%d/status" % p.pid):\n'
              '        if line.startswith("VmRSS"): return int(line.split()[1])\n'
              'seen = []\n'
              'for turn in range(10):\n'
              '    p.stdin.write(b"".join(b"0x%x\\n" % (int(sys.argv[3]) + k % 64)\n'
              '                           for k in range(100000)))\n'
              '    p.stdin.flush()\n'
              '    seen.append(rss())\n'
              'p.stdin.close(); p.wait()\n'
              'print(seen[1], seen[9])\n')
    done = subprocess.run([sys.executable, '-c', script, PROGRAM, str(i.gsym), str(start)],
                          capture_output=True, text=True, check=True)
    second, tenth = map(int, done.stdout.split())
    assert tenth <= second * 1.05 + 64, (second, tenth)


@case
def B36(lab, out):
    """An object file that was not linked is refused, by that name."""
    made = lab.compile('alone.c', TWO['app.c'])
    code, slices, error = index(lab.folder / made, out)
    said = error + ''.join(str(s['reason']) for s in slices)
    assert code != 0 and 'object file' in said, (code, said)


@case
def B41(lab, out):
    """Line tables alone: the name comes from the symbol that holds the address."""
    library, dsym = lab.library('libgmlt.dylib', {'g.cc': '''extern "C" void poke(int);
namespace net { struct Client { Client(int); int poll(int); }; }
net::Client::Client(int n) { poke(n); }
int net::Client::poll(int n) { poke(n + 1); return n; }
'''}, '-gline-tables-only')
    i, start = Index(dsym, out), MachO(library.read_bytes()).symbols()
    assert i.at(start['__ZN3net6Client4pollEi']).startswith('net::Client::poll(int) g.cc:4')
    assert i.at(start['__ZN3net6ClientC2Ei']).startswith('net::Client::Client(int) g.cc:3')


CXX = {'app.cc': '''extern "C" void poke(int);
namespace shop { void tick(int n) { poke(n); } }
extern "C" void plain(int n) { poke(n + 1); }
'''}


@case
def B42(lab, out):
    """A linkage name that is there but empty: the plain name is used."""
    library, dsym = lab.library('libempty.dylib', CXX)
    m = MachO(dsym.read_bytes())
    text = m.find('__debug_str', b'_ZN4shop4tickEi\0')
    strings = m.sections['__debug_str']['offset']
    m.poke(m.find('__debug_info', struct.pack('<I', text - strings)), '<I',
           text - strings + len('_ZN4shop4tickEi'))
    # The symbol table would know it: there is none.
    m.poke(m.at(2) + 12, '<I', 0)
    start = MachO(library.read_bytes()).symbols()['__ZN4shop4tickEi']
    answer = Index(lab.put('patched', bytes(m.data)), out).at(start)
    assert answer.split(' ')[0] in ('tick', 'shop::tick') and 'app.cc:2' in answer, answer


def abbreviations(m, tag):
    """Of each abbreviation of the tag its list of (attribute, offset of it, form)."""
    data, at = m.bytes_of('__debug_abbrev'), 0

    def uleb():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    found = []
    while at < len(data):
        if not uleb():
            continue
        its = uleb()
        at += 1
        specs = []
        while True:
            place = at
            attribute = uleb()
            form = uleb()
            if not attribute and not form:
                break
            specs.append((attribute, m.sections['__debug_abbrev']['offset'] + place, form))
        if its == tag:
            found.append(specs)
    return found


@case
def B43(lab, out):
    """A unit without any range of its own is not passed over."""
    library, dsym = lab.library('libnorange.dylib', TWO)
    m = MachO(dsym.read_bytes())
    for specs in abbreviations(m, 0x11):
        for attribute, at, _ in specs:
            if attribute in (0x11, 0x12, 0x55):  # low_pc, high_pc, ranges
                m.poke(at, 'B', 0x7f)            # an attribute nobody knows
    start = MachO(library.read_bytes()).symbols()
    i = Index(lab.put('patched', bytes(m.data)), out)
    assert i.at(start['_alive']) == 'alive app.c:4' or i.at(start['_alive']) == 'alive app.c:3', \
        i.at(start['_alive'])


@case
def B44(lab, out):
    """A line sequence that runs backwards is dropped alone; the last row at an address counts."""
    sources = {'one.c': 'int sink;\nvoid one(int n)\n{\n    sink += n;\n    sink *= n;\n}\n',
               'two.c': 'extern int sink;\nvoid two(int n)\n{\n    sink -= n;\n}\n'}
    library, dsym = lab.library('libback.dylib', sources)
    start = MachO(library.read_bytes()).symbols()
    m = MachO(dsym.read_bytes())
    # DW_LNE_set_address of two's sequence, followed by rows: an advance_pc by -4 before them all
    # would need room; turn its first special opcode into a fixed advance of 2^64 - 4 instead.
    at = m.find('__debug_line', b'\0\x09\x02' + struct.pack('<Q', start['_two']))
    m.poke(at + 3, '<Q', 2**64 - 8)  # and its addresses wrap
    i = Index(lab.put('patched', bytes(m.data)), out)
    assert i.at(start['_one']).startswith('one one.c:'), i.at(start['_one'])
    assert i.at(start['_two']) == 'two :0', i.at(start['_two'])


@case
def B45(lab, out):
    """Chains change at the borders of inlined code, and are never another call's."""
    library, dsym = lab.library('libborder.dylib', {'b.c': '''extern void poke(int);
static inline __attribute__((always_inline)) void left(int n)
{
    poke(n);
}
static inline __attribute__((always_inline)) void right(int n)
{
    poke(-n);
}
void both(int n)
{
    left(n);
    right(n);
}
'''})
    start = MachO(library.read_bytes()).symbols()['_both']
    answers = [a for a in Index(dsym, out).answers(start, 0x60) if a]
    for a in answers:
        if a.startswith('left'):
            assert a in ('left b.c:4 <- both b.c:12',), a
        elif a.startswith('right'):
            assert a in ('right b.c:8 <- both b.c:13',), a
        else:
            assert a.startswith('both b.c:'), a
    assert {a.split()[0] for a in answers} == {'left', 'right', 'both'}, answers


@case
def B64(lab, out):
    """A zip whose 32-bit offsets wrapped is refused with words, and nothing else is read."""
    library, dsym = lab.library('libzip.dylib', TWO)
    path = lab.folder / 'wrapped.zip'
    with zipfile.ZipFile(path, 'w') as z:
        z.write(dsym, 'libzip.dylib')
    data = bytearray(path.read_bytes())
    end = data.rindex(b'PK\5\6')
    struct.pack_into('<I', data, end + 16, 0xfffff000)
    path.write_bytes(data)
    code, slices, error = index(path, out)
    assert code != 0 and error and not [s for s in slices if s['state'] == 'indexed'] or \
        code == 0 and slices[0]['state'] == 'indexed', (code, slices, error)


@case
def B65(lab, out):
    """Zip64 records and streamed members are no bombs."""
    library, dsym = lab.library('libzip.dylib', TWO)

    class Pipe:  # no seek: sizes follow the data
        def __init__(self):
            self.data = b''

        def write(self, piece):
            self.data += piece
            return len(piece)

        def flush(self):
            pass
    streamed = Pipe()
    with zipfile.ZipFile(streamed, 'w', zipfile.ZIP_DEFLATED) as z:
        z.writestr('a/libzip.dylib', dsym.read_bytes())
    with zipfile.ZipFile(lab.folder / 'zip64.zip', 'w', zipfile.ZIP_DEFLATED) as z:
        with z.open('a/libzip.dylib', 'w', force_zip64=True) as member:
            member.write(dsym.read_bytes())
    for path in (lab.put('streamed.zip', streamed.data), lab.folder / 'zip64.zip'):
        assert Index(path, out).slice['functions'] == 3, path


@case
def B66(lab, out):
    """32-bit Mach-O is read, with addresses of four bytes."""
    made = lab.compile('app.c', TWO['app.c'], '-mthumb', target='armv7-apple-ios9')
    m = MachO((lab.folder / made).read_bytes())
    assert not m.wide
    i386 = lab.compile('app.c', TWO['app.c'], target='i386-apple-ios9-simulator')
    assert not MachO((lab.folder / i386).read_bytes()).wide
    # Both are object files: refused as such and not for their width.
    for name in (made, i386):
        code, slices, error = index(lab.folder / name, out)
        assert 'object file' in error + ''.join(str(s['reason']) for s in slices), error


@case
def B70(lab, out):
    """An attribute of unknown form costs its unit's DIEs, a GNU one four bytes, others nothing."""
    sources = {'one.c': 'int sink;\nvoid one(int n)\n{\n    sink += n;\n}\n',
               'two.c': 'extern int sink;\nvoid two(int n)\n{\n    sink -= n;\n}\n'}
    library, dsym = lab.library('libform.dylib', sources)
    start = MachO(library.read_bytes()).symbols()
    for form in (0x3f, 0x2d):
        m = MachO(dsym.read_bytes())
        specs = abbreviations(m, 0x11)[0]
        place = next(at for attribute, at, f in specs if attribute == 0x03)  # DW_AT_name
        m.poke(place + 1, 'B', form)
        i = Index(lab.put('patched', bytes(m.data)), out)
        answers = i.at(start['_one'], start['_two'])
        assert answers[0].startswith('one') and answers[1].startswith('two'), (form, answers)


@case
def B71(lab, out):
    """Compressed debug sections of ELF are read; what is not known is refused by name."""
    if not TOOLS['ld.lld'] or not TOOLS['llvm-objcopy']:
        print('skipped: B71 (no ld.lld or llvm-objcopy)')
        return
    made = lab.compile('app.c', TWO['app.c'], '-fPIC', target='aarch64-linux-gnu')
    subprocess.run([TOOLS['ld.lld'], '--build-id=sha1', '-shared', '-o', 'libelf.so', made],
                   cwd=lab.folder, check=True)
    plain = Index(lab.folder / 'libelf.so', out)
    subprocess.run([TOOLS['llvm-objcopy'], '--compress-debug-sections=zlib', 'libelf.so', 'z.so'],
                   cwd=lab.folder, check=True)
    packed = Index(lab.folder / 'z.so', out)
    assert packed.gsym.read_bytes() == plain.gsym.read_bytes()
    assert packed.slice['has_dwarf'] and packed.slice['functions'] == 3


if failures:
    sys.exit('%d failed: %s' % (len(failures), ' '.join(failures)))
print('ok: %d cases' % ran)
