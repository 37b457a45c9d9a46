"""Object files made on the spot: small iOS libraries out of given C text, Mach-O read and patched
byte by byte. For tests of what `stallsymd index` makes of them."""
import json
import os
import pathlib
import shutil
import struct
import subprocess

PROGRAM = os.environ.get('STALLSYMD', 'build/stallsymd')


def tool(name):
    """The newest of NAME, NAME-19 … NAME-14 that is installed, or None."""
    for version in ('-19', '-18', '-17', '-16', '-15', '-14', ''):
        if shutil.which(name + version):
            return name + version
    return None


TOOLS = {name: tool(name) for name in ('clang', 'ld64.lld', 'dsymutil', 'ld.lld', 'llvm-objcopy')}


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True)
    if done.returncode:
        raise RuntimeError('%s: %s' % (' '.join(command), done.stderr.decode()[-2000:]))


class Lab:
    """A folder with sources; what is built there is named relative to /src/app."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def compile(self, name, text, *flags, target='arm64-apple-ios15'):
        (self.folder / name).write_text(text)
        made = pathlib.Path(name).stem + '.o'
        run(TOOLS['clang'], '-target', target, '-g', '-gdwarf-4', '-O1', '-nostdinc',
            '-fno-exceptions', '-fno-asynchronous-unwind-tables', '-fdebug-compilation-dir=/src/app',
            *flags, '-c', name, '-o', made, cwd=self.folder)
        return made

    def link(self, out, *objects, arch='arm64', flags=()):
        run(TOOLS['ld64.lld'], '-arch', arch, '-platform_version', 'ios', '15.0', '15.0', '-dylib',
            '-undefined', 'dynamic_lookup', '-install_name', '@rpath/' + out, *flags, '-o', out,
            *objects, cwd=self.folder)
        return self.folder / out

    def dsym(self, library):
        run(TOOLS['dsymutil'], library.name, '-o', library.name + '.dSYM', cwd=self.folder)
        return self.folder / (library.name + '.dSYM/Contents/Resources/DWARF') / library.name

    def library(self, out, sources, *flags, link=(), arch='arm64', target='arm64-apple-ios15'):
        """Library of {name: text}, and its dSYM's object file."""
        objects = [self.compile(n, t, *flags, target=target) for n, t in sources.items()]
        made = self.link(out, *objects, arch=arch, flags=link)
        return made, self.dsym(made)

    def put(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path


class MachO:
    """Little-endian thin file: where its commands, segments, sections and symbols stand."""

    def __init__(self, data):
        self.data = bytearray(data)
        magic, self.cputype, self.cpusubtype, self.filetype, count = struct.unpack_from('<5I', data)
        assert magic in (0xfeedfacf, 0xfeedface), hex(magic)
        self.wide = magic == 0xfeedfacf
        self.commands, self.segments, self.sections = [], {}, {}
        at = 32 if self.wide else 28
        for _ in range(count):
            command, size = struct.unpack_from('<2I', data, at)
            self.commands.append((command, at))
            if command in (0x19, 1):
                self._segment(at)
            at += size

    def _segment(self, at):
        name = bytes(self.data[at + 8:at + 24]).rstrip(b'\0').decode()
        layout, count_at, first, step = ('<4Q', 64, 72, 80) if self.wide else ('<4I', 48, 56, 68)
        address, _, offset, _ = struct.unpack_from(layout, self.data, at + 24)
        count, = struct.unpack_from('<I', self.data, at + count_at)
        self.segments[name] = {'at': at, 'address': address, 'offset': offset}
        for k in range(count):
            s = at + first + k * step
            section = bytes(self.data[s:s + 16]).rstrip(b'\0').decode()
            values = struct.unpack_from('<2QI' if self.wide else '<3I', self.data, s + 32)
            self.sections[section] = dict(zip(('address', 'size', 'offset'), values), at=s)

    def at(self, command):
        return next(at for c, at in self.commands if c == command)

    def poke(self, at, layout, *values):
        struct.pack_into(layout, self.data, at, *values)
        return self

    def bytes_of(self, section):
        s = self.sections[section]
        return bytes(self.data[s['offset']:s['offset'] + s['size']])

    def find(self, section, needle, nth=0):
        """File offset of the n-th `needle` in a section; it has to be there."""
        s = self.sections[section]
        at = s['offset'] - 1
        for _ in range(nth + 1):
            at = self.data.find(needle, at + 1, s['offset'] + s['size'])
            assert at >= 0, (section, needle)
        return at

    def symbols(self):
        at = self.at(2)
        symbols, count, strings, _ = struct.unpack_from('<4I', self.data, at + 8)
        found = {}
        for k in range(count):
            name, kind, _, _, value = struct.unpack_from('<IBBHQ' if self.wide else '<IBBHI',
                                                         self.data, symbols + k * (16 if self.wide else 12))
            end = self.data.index(0, strings + name)
            if kind & 0xe0 == 0 and kind & 0x0e == 0x0e:
                found[bytes(self.data[strings + name:end]).decode()] = value
        return found


def index(path, out, *options, timeout=120):
    """Exit status, slices, what went to standard error."""
    done = subprocess.run([PROGRAM, 'index', str(path), '-o', str(out), *options], text=True,
                          capture_output=True, timeout=timeout)
    assert done.returncode in (0, 1, 2, 3, 4), (path, done.returncode, done.stderr[-2000:])
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def lookup(gsym, *addresses):
    """Of each address its frames as 'inner f.h:3 <- outer f.c:9'; '' when there are none."""
    done = subprocess.run([PROGRAM, 'lookup', str(gsym), *[hex(a) for a in addresses]], text=True,
                          capture_output=True, timeout=60, check=True)
    return [' <- '.join('%s %s:%s' % (f['function'], os.path.basename(f['file'] or ''),
                                      f['line'] or 0) for f in json.loads(line)['frames'])
            for line in done.stdout.splitlines()]


class Index:
    """The index of an object file (its only slice, or the one of that arch)."""

    def __init__(self, path, out, arch=None):
        self.code, self.slices, self.error = index(path, out)
        good = [s for s in self.slices if s['state'] == 'indexed' and arch in (None, s['arch'])]
        assert good, (path, self.code, self.slices, self.error)
        self.slice = good[0]
        self.gsym = pathlib.Path(out) / self.slice['index_file']
        self.base = int(self.slice['text_vmaddr'], 16)

    def at(self, *addresses):
        answers = lookup(self.gsym, *addresses)
        return answers[0] if len(addresses) == 1 else answers

    def answers(self, start, size, step=4):
        return lookup(self.gsym, *range(start, start + size, step))
