#!/usr/bin/env python3
"""`stallsymd lookup`: every way to ask it, and what it says to those who ask wrongly."""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("STALLSYMD", "build/stallsymd")
DEMO = "tests/demo/Shop.dSYM.zip"
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def lookup(*arguments, text=None):
    done = subprocess.run([PROGRAM, "lookup", *arguments], input=text, capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def function_starts(path):
    data = open(path, "rb").read()
    _, _, size, _, base, count = struct.unpack_from("<IHBBQI", data)
    table = struct.unpack_from("<%d%s" % (count, {1: "B", 2: "H", 4: "I", 8: "Q"}[size]), data, 48)
    return [base + offset for offset in table]


def asking(index, starts):
    hexa = ["0x%x" % a for a in starts]
    code, by_argument, _ = lookup(index, *hexa[:50])
    check(code == 0, "arguments: exit status %d" % code)
    answers = [json.loads(line) for line in by_argument.splitlines()]
    check([a["address"] for a in answers] == hexa[:50], "addresses come back in order")
    for answer in answers:
        for i, frame in enumerate(answer["frames"]):
            check(list(frame) == ["function", "mangled", "file", "line", "inlined"], "fields")
            check(frame["function"] and frame["mangled"], "names are never empty")
            check(frame["line"] is None or frame["line"] > 0, "a line is positive or null")
            check(frame["inlined"] == (i + 1 < len(answer["frames"])), "the outermost is no inline")
    check(any(a["frames"] for a in answers), "some address has a function")
    _, by_decimal, _ = lookup(index, *["%d" % a for a in starts[:50]])
    check(by_decimal == by_argument, "decimal addresses are the same")
    _, by_input, _ = lookup(index, text="\n".join(hexa[:50]))
    check(by_input == by_argument, "standard input is the same, with or without a last newline")
    _, by_input, _ = lookup(index, text="\n\n  " + " \r\n\t".join(hexa[:50]) + "\n\n")
    check(by_input == by_argument, "blanks and empty lines are passed over")
    code, nothing, _ = lookup(index, "0", "0xffffffffffffffff", "18446744073709551615")
    check(code == 0 and [json.loads(x)["frames"] for x in nothing.splitlines()] == [[], [], []],
          "addresses outside have no frames")
    code, mixed, err = lookup(index, hexa[0], "0x1")
    check((code, err) == (0, "") and mixed.splitlines()[1] == '{"address":"0x1","frames":[]}',
          "an address where nothing is is no failure")
    code, many, _ = lookup(index, text="\n".join(hexa * 200))
    check(code == 0 and len(many.splitlines()) == 200 * len(hexa), "many lines")


def one_by_one(index, starts):
    with subprocess.Popen([PROGRAM, "lookup", index], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        for a in starts[:3]:
            process.stdin.write("0x%x\n" % a)
            process.stdin.flush()
            check(json.loads(process.stdout.readline())["address"] == "0x%x" % a,
                  "an answer before the next question")
        process.stdin.close()
        check(process.wait(10) == 0, "ends with its input")


def asking_wrongly(index, start):
    good = "0x%x" % start
    for bad in ["xyz", "0x", "0xg", "-1", "1f", "0x10000000000000000", "1" * 5000, "1 2"]:
        code, out, err = lookup(index, text="%s\n%s\n%s\n" % (good, bad, good))
        check(code == 1 and len(out.splitlines()) == 1 and "line 2" in err and len(err) < 300,
              "bad input %.20r: %d, %r" % (bad, code, err[:200]))
        code, out, err = lookup(index, good, bad)
        check(code == 2 and not out and "not an address" in err, "bad argument %.20r" % bad)
    check(lookup()[0] == 2, "no index")
    check(lookup("--nonsense")[0] == 2, "unknown option")
    for path, words in [("/nonexistent.gsym", "no such file"), ("/", "not an index file"),
                        (DEMO, "not a GSYM file"), ("/dev/null", "not an index file")]:
        code, out, err = lookup(path, "0")
        check(code == 1 and not out and words in err, "%s: %r" % (path, err))
    code, out, _ = lookup("--help")
    check(code == 0 and "INDEX.gsym" in out, "--help")
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "lookup", index, good], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        check(done.returncode == 1 and "standard output" in done.stderr, "a full disk is an error")


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PROGRAM, "index", DEMO, "-o", folder], check=True, capture_output=True)
        index = sorted(glob.glob(folder + "/*.gsym"))[0]
        starts = function_starts(index)
        asking(index, starts)
        one_by_one(index, starts)
        asking_wrongly(index, starts[0])
        cut = folder + "/cut.gsym"
        with open(cut, "wb") as out:
            out.write(open(index, "rb").read()[:300])
        code, _, err = lookup(cut, "0x%x" % starts[0])
        check(code == 1 and "cut off" in err, "a file that was cut: %r" % err)
    for failure in failures:
        print("FAILED", failure)
    return 1 if failures else 0


sys.exit(main())
