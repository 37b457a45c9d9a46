"""`stallsymd demangle`: names in text, in each form, from standard input to standard output."""
import os
import random
import subprocess
import sys
import time
import unittest

PROGRAM = os.environ["STALLSYMD"]
DATA = os.environ.get("STALLSYM_DATA", "../shared/data")


def demangle(text, *options):
    if isinstance(text, str):
        text = text.encode()
    done = subprocess.run([PROGRAM, "demangle", *options], input=text, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Demangle(unittest.TestCase):
    def test_names_in_text(self):
        cases = [
            ("$s4Shop4FeedC3runyyFyycfU_", "closure #1 in Feed.run()"),
            ("at 0x10 Shop`$s4Shop4FeedC3runyyF + 12", "at 0x10 Shop`Feed.run() + 12"),
            ("($s4Shop3runyyF,_ZN3net4pollEi)", "(run(),net::poll(int))"),
            ("ends with $s4Shop3runyyF.", "ends with run()."),
            ("$s4Shop3runyyF.llvm.1", "run()"),
            ("_RNvC1a1b and _ZN3foo3bar17h05af221e174051e9E", "a::b and foo::bar"),
            ("in __15-[Feed reload:]_block_invoke_2 now", "in -[Feed reload:] block now"),
            ("-[Feed reload:]", "-[Feed reload:]"),
            ("_Z3foov@GLIBC_2", "foo()@GLIBC_2"),
            ("$Syyy@x main _main s4Shop", "$Syyy@x main _main s4Shop"),
            ("__$s4Shop3runyyF", "run()"),
            ("\t$s4Shop3runyyF \r", "\trun() \r"),
            ("", ""),
            ("...", "..."),
        ]
        for given, want in cases:
            self.assertEqual(demangle(given + "\n").decode(), want + "\n", given)

    def test_forms(self):
        name = "$s4Shop4FeedC6reload5forceySb_tFySSXEfU_\n"
        self.assertEqual(demangle(name, "--full").decode(),
                         "closure #1 (Swift.String) -> () in Shop.Feed.reload(force: Swift.Bool) -> ()\n")
        self.assertEqual(demangle(name, "--simplified").decode(), "closure #1 in Feed.reload(force:)\n")
        self.assertEqual(demangle(name, "--key").decode(), "Feed.reload(force:)\n")
        self.assertEqual(demangle("_ZN3net4pollEi\n", "--key").decode(), "net::poll\n")

    def test_bytes_pass_through(self):
        rng = random.Random(4)
        noise = bytes(rng.randrange(256) for _ in range(300000)).replace(b"$", b"#").replace(b"_", b"-")
        self.assertEqual(demangle(noise), noise)
        self.assertEqual(demangle(b"no newline $s4Shop3runyyF"), b"no newline run()")
        long = b"x" * 1000000
        self.assertEqual(demangle(long), long)

    def test_answers_line_by_line(self):
        child = subprocess.Popen([PROGRAM, "demangle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for number in range(3):
            child.stdin.write(b"$s4Shop3runyyF %d\n" % number)
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), b"run() %d\n" % number)
        child.stdin.close()
        child.stdout.close()
        self.assertEqual(child.wait(10), 0)

    def test_usage(self):
        for options in (["--loud"], ["name"], ["--full", "x"]):
            done = subprocess.run([PROGRAM, "demangle", *options], input=b"", capture_output=True, timeout=10)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"Usage: stallsymd demangle", done.stderr)
            self.assertEqual(done.stdout, b"")

    def test_answers_of_apples_tool(self):
        folder = os.path.join(DATA, "swift")
        if not os.path.isdir(folder):
            self.skipTest("no " + folder)
        for file in ("cases.tsv", "stdlib.tsv", "old.tsv"):
            with open(os.path.join(folder, file), "rb") as f:
                rows = [line.rstrip(b"\n").split(b"\t") for line in f]
            names = b"".join(row[0] + b"\n" for row in rows)
            self.assertEqual(demangle(names, "--full").split(b"\n")[:-1], [row[1] for row in rows], file)
            self.assertEqual(demangle(names).split(b"\n")[:-1], [row[2] for row in rows], file)

    def test_doubling_names_end(self):
        name = "$sSDySiSiG" + "".join("SDyA%sA%sG" % (c, c) for c in "ABCDEFGHIJKLMNOPQRSTUVWXY") + "D\n"
        start = time.monotonic()
        self.assertEqual(demangle(name * 100, "--full").decode(), name * 100)
        self.assertLess(time.monotonic() - start, 30)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=0).result.wasSuccessful() else 1)
