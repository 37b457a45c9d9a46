#!/usr/bin/env python3
"""Every address that an index of llvm-gsymutil answers, ours answers the same.

Covers: symbolizer/gsym_write.c symbolizer/gsym_read.c

Both make an index of each symbol file (fixtures, and the real ones where they are); addresses at the
start, in the middle and at the end of LLVM's functions are asked of both. Where they differ a known
fault of LLVM has to explain it; each is a function below. LLVM also reads our file, and must find in it what we do."""
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ.get("STALLSYMD", "build/stallsymd")
BUILD = os.path.dirname(PROGRAM) or "."
DATA = os.environ.get("STALLSYM_DATA", "../shared/data")
PER_FILE = 400
SECONDS = 30


def tool(name):
    return next(filter(None, map(shutil.which, (name + "-14", name, name + "-19"))), None)


TOOL, NM, SYMBOLIZER = tool("llvm-gsymutil"), tool("llvm-nm"), tool("llvm-symbolizer")


class Index:
    """The tables of an index that the test needs."""

    def __init__(self, path):
        self.path = path
        data = open(path, "rb").read()
        _, _, size, uuid_size, base, count, _, _ = struct.unpack_from("<IHBBQIII", data)
        self.uuid = data[28:28 + uuid_size]
        at = (48 + size - 1) // size * size
        offsets = struct.unpack_from("<%d%s" % (count, {1: "B", 2: "H", 4: "I", 8: "Q"}[size]), data, at)
        at = (at + size * count + 3) // 4 * 4
        records = struct.unpack_from("<%dI" % count, data, at)
        self.starts = [base + o for o in offsets]
        self.sizes = [struct.unpack_from("<I", data, r)[0] for r in records]


def fixtures():
    for path in sorted(glob.glob(BUILD + "/fixtures/**/*", recursive=True)):
        if os.path.isfile(path) and ("/DWARF/" in path or os.path.basename(path).startswith("elf-v")):
            yield path
    if os.path.isfile(DATA + "/SYMBOLS.tsv"):
        names = [line.split("\t")[0] for line in open(DATA + "/SYMBOLS.tsv") if not line.startswith("#")]
        for name in dict.fromkeys(names):
            yield os.path.join(DATA, "symbols", name)


def addresses_of(index):
    """Starts, middles, ends; functions without a size have only a start."""
    functions = list(zip(index.starts, index.sizes))
    random.Random(7).shuffle(functions)
    chosen = set()
    for start, size in functions[:PER_FILE // 2]:
        chosen.update((start, start + size // 2, start + max(size, 1) - 1))
    return sorted(chosen)


PLACE = re.compile(r"^(?:0x[0-9a-f]+: )? *(.*?)(?: \+ \d+)?(?: @ (.*):(\d+))?(?: \[inlined\])?$")


def ask_llvm(path, addresses):
    """{address: [(name, path or None, line)]}, innermost first; addresses it does not know are left out."""
    text = "".join("0x%x %s\n" % (a, path) for a in addresses)
    out = subprocess.run([TOOL, "--addresses-from-stdin"], input=text, capture_output=True, text=True,
                         timeout=60).stdout
    answers, current = {}, None
    for line in out.splitlines():
        start = re.match(r"^0x([0-9a-f]+): (error: )?", line)
        if start and start.group(2):
            current = None
        elif start:
            current = answers.setdefault(int(start.group(1), 16), [])
        if current is None or not line.strip():
            continue
        name, file, number = PLACE.match(line).groups()
        name = "" if re.match(r"\+ \d+$", name) else name  # only its offset is printed
        current.append((name, file, int(number or 0)))
    return answers


def ask_us(path, addresses):
    text = "".join("0x%x\n" % a for a in addresses)
    out = subprocess.run([PROGRAM, "lookup", path], input=text, capture_output=True, text=True,
                         timeout=60, check=True).stdout
    answers = {}
    for line in out.splitlines():
        answer = json.loads(line)
        frames = [(f["mangled"].strip(), f["file"], f["line"] or 0) for f in answer["frames"]]
        answers[int(answer["address"], 16)] = frames
    return answers


# --- known faults of LLVM: each says whether it explains that `theirs` is not `ours` (one frame) ----

MANGLED = re.compile(r"^(_Z|_R|_?\$s|_?\$S|_T)")


def plain_name(theirs, ours):
    """Without a linkage name in DWARF it takes the plain one, though the symbol table has the other
    ("init" for _TFC11SentrySwift11BinaryImagecfT_S0_), or puts scopes before a name of C."""
    named = MANGLED.match(ours[0]) or theirs[0].endswith("::" + ours[0])
    return theirs[0] != ours[0] and named and not MANGLED.match(theirs[0]) and theirs[1:] == ours[1:]


def directory_of_pseudo_file(theirs, ours):
    """"//<compiler-generated>": what is no file is put into a directory."""
    return (ours[1] or "").startswith("<") and theirs[1] == "//" + ours[1] and theirs[2] == ours[2]


def directory_twice(theirs, ours):
    """DWARF 5: the directory that the compiler ran in is put before names that have it already."""
    return ours[1] and theirs[1] and theirs[1].endswith("/" + ours[1]) and theirs[2] == ours[2]


def nameless_call(theirs, ours):
    """An inlined call whose name cannot be found has none; ours says "??"."""
    return theirs[0] == "" and ours[0] == "??" and theirs[1:] == ours[1:]


def folded(theirs, ours, symbols):
    """Several names of one address: which is taken depends on the order of its sort."""
    return bool(symbols.get(theirs[0], set()) & symbols.get(ours[0], set())) and theirs[1:] == ours[1:]


def no_lines(theirs, ours, symbols):
    """The whole answer: functions that only the symbol table has get no rows of the line table."""
    if len(theirs) != 1 or theirs[0][1] is not None or not ours:
        return False
    return ours[-1][0] == theirs[0][0] or folded(theirs[0][:1], ours[-1][:1], symbols)


def row_in_doubt(theirs, ours, path, address):
    """Of several rows at one address it may take the first; llvm-symbolizer, as we, takes the last."""
    if not SYMBOLIZER or not theirs or len(theirs) != len(ours):
        return False
    if theirs[0][0] != ours[0][0] or theirs[1:] != ours[1:]:
        return False
    out = subprocess.run([SYMBOLIZER, "--obj=" + path, "0x%x" % address], capture_output=True, text=True,
                         timeout=60).stdout.splitlines()
    return len(out) > 1 and out[1].startswith("%s:%d:" % ours[0][1:])


def repaired(theirs, ours, symbols):
    """`theirs` with names and files set right where a known fault explains them."""
    frames = []
    for frame, good in zip(theirs, ours):
        name, same = (frame[0],), (good[0],)
        if plain_name(name, same) or nameless_call(name, same) or folded(name, same, symbols):
            frame = (good[0],) + frame[1:]
        if directory_of_pseudo_file(frame, good) or directory_twice(frame, good):
            frame = (frame[0],) + good[1:]
        frames.append(frame)
    return frames


class Comparison:
    def __init__(self):
        self.compared = 0
        self.explained = 0
        self.failures = []

    def answers(self, what, path, theirs, ours, symbols):
        for address, frames in theirs.items():
            good = ours.get(address, [])
            self.compared += 1
            if frames == good:
                continue
            self.explained += 1
            if len(frames) == len(good) and repaired(frames, good, symbols) == good:
                continue
            if not no_lines(frames, good, symbols) and not row_in_doubt(frames, good, path, address):
                self.failures.append("%s: 0x%x\n  llvm %s\n  ours %s" % (what, address, frames, good))

    def reading(self, what, theirs, ours):
        """Our file through both readers; where there is no answer LLVM's says so."""
        for address, frames in ours.items():
            if theirs.get(address, []) != frames:
                self.failures.append("%s: 0x%x is read as\n  llvm %s\n  ours %s" %
                                     (what, address, theirs.get(address), frames))


def symbols_of(path):
    """{name: addresses} of the symbol table, without Mach-O's own underscore too."""
    symbols = {}
    if not NM:
        return symbols
    out = subprocess.run([NM, path], capture_output=True, text=True, timeout=60).stdout
    for line in out.splitlines():
        parts = line.split(" ", 2)
        if len(parts) == 3 and parts[0]:
            for name in {parts[2].strip(), parts[2].strip().removeprefix("_")}:
                symbols.setdefault(name, set()).add(int(parts[0], 16))
    return symbols


def compare(path, work, result):
    label = path.replace(DATA, "").replace(BUILD, "").lstrip("/")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    subprocess.run([TOOL, "--convert", path, "--out-file", work + "/theirs.gsym", "--quiet"],
                   capture_output=True, timeout=60)
    subprocess.run([PROGRAM, "index", path, "-o", work + "/ours"], capture_output=True, timeout=60)
    ours = {Index(p).uuid: p for p in glob.glob(work + "/ours/*.gsym")}
    symbols = symbols_of(path)
    for theirs in map(Index, glob.glob(work + "/theirs.gsym*")):
        mine = ours.get(theirs.uuid)
        if not mine:
            result.failures.append("%s: LLVM has an index, we have none" % label)
            continue
        addresses = addresses_of(theirs)
        answers = ask_us(mine, addresses)
        result.answers(label, path, ask_llvm(theirs.path, addresses), answers, symbols)
        result.reading(label, ask_llvm(mine, addresses), answers)


def main():
    if not TOOL:
        print("skipped: no llvm-gsymutil")
        return 77
    result, files, started = Comparison(), 0, time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        for path in fixtures():
            if time.monotonic() - started > SECONDS:
                print("out of time: the other files are not compared")
                break
            compare(path, work + "/work", result)
            files += 1
    for failure in result.failures[:10]:
        print(failure)
    print("%d files, %d addresses that LLVM answers, %d otherwise through its known faults, %d unexplained" %
          (files, result.compared, result.explained - len(result.failures), len(result.failures)))
    return 1 if result.failures or result.compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
