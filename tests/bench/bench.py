#!/usr/bin/env python3
"""P1 to P16 and the Swift demangler: every figure beside its peer, measured in the same run (alternating, medians).

usage: bench.py BUILD [--quick]

Needs llvm-gsymutil and llvm-symbolizer. The large dSYM (45 MB, C++ and Objective-C) is fetched with
`npm pack @nativescript/ios@8.4.0` into $STALLSYM_BENCH_CACHE (default ~/.cache/stallsym-bench) and
left out, saying so, where it cannot be had; real dSYMs come from ../shared/data where present, else
from the build's own fixtures. P11 runs $STALLSYM_BENCH_SECONDS for each of its two kinds (120; the goal
speaks of 600). P13 is run on $STALLSYM_BENCH_READS reports (1,000,000; the goal speaks of
10,000,000), P14 with $STALLSYM_BENCH_STORED (1,000,000; the goal speaks of 10,000,000 also)."""
import json, os, pathlib, random, shutil, statistics, struct, subprocess, sys, tarfile, tempfile, time, zipfile

build = pathlib.Path(sys.argv[1])
quick = '--quick' in sys.argv
program = build / 'stallsymd'
data = pathlib.Path(os.environ.get('STALLSYM_DATA', '../shared/data'))
cache = pathlib.Path(os.environ.get('STALLSYM_BENCH_CACHE', pathlib.Path.home() / '.cache/stallsym-bench'))
rounds = 3 if quick else 7


def tool(name):
    for version in '14', '19', '':
        path = shutil.which(name + ('-' + version if version else ''))
        if path:
            return path
    sys.exit('bench: %s is missing' % name)


def measured(argv, stdin=None, stdout=subprocess.DEVNULL):
    """(wall s, CPU s, peak MB) of a process that has to succeed."""
    start = time.perf_counter()
    with open(stdin or os.devnull, 'rb') as source:
        process = subprocess.Popen([str(a) for a in argv], stdin=source, stdout=stdout,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit('bench: %s: status %d' % (argv[0], process.returncode))
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def against(ours, theirs):
    """Medians of both, run in turn after one warm-up each."""
    ours(), theirs()
    a, b = [], []
    for _ in range(rounds):
        a.append(ours())
        b.append(theirs())
    return [statistics.median(x) for x in zip(*a)], [statistics.median(x) for x in zip(*b)]


def figure(name, what, ours, theirs, unit, goal):
    print('%-4s %-38s %9.3f %s, peer %9.3f %s, ratio %5.2f (goal <= %.2f)' %
          (name, what, ours, unit, theirs, unit, ours / theirs, goal), flush=True)


def large_dsym():
    target = cache / 'NativeScript'
    if target.exists():
        return target
    if not shutil.which('npm'):
        return None
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(['npm', 'pack', '--silent', '@nativescript/ios@8.4.0'], cwd=work,
                              capture_output=True)
        packs = list(pathlib.Path(work).glob('*.tgz'))
        if done.returncode != 0 or not packs:
            return None
        with tarfile.open(packs[0]) as pack:
            pack.extract('package/framework/internal/XCFrameworks.zip', work)
        with zipfile.ZipFile(pathlib.Path(work) / 'package/framework/internal/XCFrameworks.zip') as z:
            name = next(n for n in z.namelist()
                        if 'NativeScript.xcframework/ios-arm64/dSYMs' in n and '/DWARF/' in n and
                        not n.endswith('/') and '__MACOSX' not in n)
            with z.open(name) as source, open(str(target) + '.part', 'wb') as out:
                shutil.copyfileobj(source, out)
    os.rename(str(target) + '.part', target)
    return target


def objects():
    large = None if quick else large_dsym()
    if large:
        yield 'NativeScript, 45 MB', large
    elif not quick:
        print('     the 45 MB dSYM cannot be had here (npm): left out')
    for name in 'sentry/Sentry.framework.dSYM/Contents/Resources/DWARF/Sentry', \
                'canvas/CanvasNative.framework.dSYM/Contents/Resources/DWARF/CanvasNative':
        if (data / 'symbols' / name).exists():
            yield pathlib.Path(name).name, data / 'symbols' / name
    if not (data / 'symbols').is_dir():
        for path in sorted((build / 'fixtures').rglob('DWARF/*')):
            yield 'fixture ' + path.name, path
            return


def app_objects():
    """What the app of the ingest benches is made of."""
    names = ['sentry/Sentry.framework.dSYM', 'canvas/CanvasNative.framework.dSYM', 'shop/Shop.dSYM',
             'crashprobe-debug/arm64-CrashLibiOS.framework.dSYM', 'crashprobe-debug/arm64-CrashProbeiOS.app.dSYM']
    found = [p for name in names for p in sorted((data / 'symbols' / name).rglob('DWARF/*'))]
    return found or [p for p in sorted((build / 'fixtures').rglob('DWARF/*'))
                     if p.read_bytes()[:4] == b'\xcf\xfa\xed\xfe']


def gsym_functions(path):
    """Of a GSYM file (LLVM's or ours): address -> (name, bytes of its record and table entries)."""
    data = path.read_bytes()
    _, _, width, _, base, count, strings, _ = struct.unpack_from('<IHBBQIII', data)
    at = (48 + width - 1) // width * width
    starts = struct.unpack_from('<%d%s' % (count, {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}[width]), data, at)
    records = struct.unpack_from('<%dI' % count, data, (at + count * width + 3) // 4 * 4)
    functions = {}
    for start, record in zip(starts, records):
        at = record + 8
        kind = 1
        while kind:
            kind, length = struct.unpack_from('<II', data, at)
            at += 8 + length
        name = strings + struct.unpack_from('<I', data, record + 4)[0]
        functions[base + start] = (data[name:data.index(b'\0', name)], at - record + width + 4)
    return functions


def size_of_same(ours, theirs):
    """Our size without the functions that LLVM has left out (it drops those of a symbol table whose
    end it does not know), and how many these are."""
    mine, other = gsym_functions(ours), gsym_functions(theirs)
    more = [f for start, f in mine.items() if start not in other]
    names = {f[0] for f in more} - {f[0] for start, f in mine.items() if start in other}
    return ours.stat().st_size - sum(f[1] for f in more) - sum(len(n) + 1 for n in names), len(more)


def bench_object(label, path, work):
    gsymutil, symbolizer = tool('llvm-gsymutil'), tool('llvm-symbolizer')
    print('%s: %.1f MB' % (label, path.stat().st_size / 1e6))
    for threads in 1, 2:
        theirs_file = work / 'theirs.gsym'

        def ours():
            return measured([program, 'index', path, '-o', work / 'ours', '--jobs', threads])

        def theirs():
            return measured([gsymutil, '--convert', path, '--out-file', theirs_file,
                             '--num-threads', threads])
        a, b = against(ours, theirs)
        figure('P1', 'index, wall, %d thread%s' % (threads, 's' * (threads > 1)), a[0], b[0], 's', 0.25)
        figure('P1', 'the same, CPU', a[1], b[1], 's', 0.25)
        figure('P2', 'index, peak memory', a[2], b[2], 'MB', 0.33)
    index = next((work / 'ours').glob('*.gsym'))
    their_index = sorted(work.glob('theirs.gsym*'))[0]
    figure('P3', 'index size', index.stat().st_size / 1e6, their_index.stat().st_size / 1e6, 'MB', 1.0)
    size, more = size_of_same(index, their_index)
    if more:
        figure('P3', 'the same without %d functions it lacks' % more, size / 1e6,
               their_index.stat().st_size / 1e6, 'MB', 1.0)
    info = subprocess.run([str(program), 'index', str(path), '-o', str(work / 'ours')],
                          capture_output=True, text=True, check=True).stdout
    line = json.loads(info.splitlines()[0])
    random.seed(7)
    addresses = work / 'addresses'
    with open(addresses, 'w') as out:
        for _ in range(20000 if quick else 200000):
            out.write('0x%x\n' % (int(line['text_vmaddr'], 16) + random.randrange(line['text_size'] or 1)))
    arch = ['--default-arch=' + line['arch']] if line.get('arch') else []
    a, b = against(lambda: measured([program, 'lookup', index], addresses),
                   lambda: measured([symbolizer, '--obj=%s' % path, '--output-style=JSON', *arch], addresses))
    figure('P4', 'random addresses, CPU', a[1], b[1], 's', 0.33)
    print(subprocess.run([str(build / 'bench/bench_lookup'), str(index)], capture_output=True,
                         text=True).stdout, end='', flush=True)
    shutil.rmtree(work / 'ours')
    for left in work.glob('theirs.gsym*'):
        left.unlink()


def main():
    print('%s; %d CPUs; medians of %d rounds' % (time.strftime('%Y-%m-%d'), os.cpu_count(), rounds))
    with tempfile.TemporaryDirectory(prefix='stallsym-bench-') as work:
        for label, path in objects():
            bench_object(label, path, pathlib.Path(work))
    subprocess.run([str(build / 'bench/bench_demangle')], check=True)
    seconds = os.environ.get('STALLSYM_BENCH_SECONDS', '5' if quick else '120')
    subprocess.run([build / 'bench/bench_ingest', program, '--batches', '500' if quick else '3000',
                    '--seconds', seconds, '--symbols', *app_objects()], check=True)
    stored = os.environ.get('STALLSYM_BENCH_STORED', '100000' if quick else '1000000')
    subprocess.run([build / 'bench/bench_growth', program, '--batches', '200' if quick else '1000',
                    '--stored', stored, '--indexes', '100' if quick else '1000',
                    '--gigabytes', '0.2' if quick else '5', '--symbols', *app_objects()], check=True)
    subprocess.run([build / 'bench/bench_storage', '40000' if quick else '600000'], check=True)
    subprocess.run([str(build / 'bench/bench_flame'), '10000' if quick else '100000'], check=True)
    reads = os.environ.get('STALLSYM_BENCH_READS', '50000' if quick else '1000000')
    subprocess.run([str(build / 'bench/bench_reads'), reads], check=True)


main()
