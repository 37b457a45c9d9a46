"""Crash and sample texts with their frames filled in, over HTTP and by `stallsymd symbolicate`."""
import atexit
import os
import pathlib
import subprocess
import tempfile
import unittest
import zipfile

from daemon import DATA, PROGRAM, Daemon

REPORTS = DATA / "reports" / "macsymbolicator"
SYMBOLS = DATA / "symbols" / "macsymbolicator"
TEXT = {"Content-Type": "text/plain"}

# Addresses of tests/demo/Shop.dSYM.zip: a method with a C function inlined into it, and its caller.
CRASH = """Process:               Shop [7]\r
\r
Thread 0 Crashed:\r
0   Shop                          \t       0x1004f8084 0x1004f4000 + 16516\r
1   Shop                          \t       0x1004f813c 0x1004f4000 + 16700\r
2   dyld                          \t       0x11beb451e start + 462\r
\r
Binary Images:\r
       0x1004f4000 -        0x1004fbfff Shop arm64  <%s> /x/Shop.app/Shop\r
"""

EMPTY = tempfile.mkdtemp()  # a folder without an index
atexit.register(os.rmdir, EMPTY)


def uuid_of(daemon):
    return daemon.get("/v1/symbols")["items"][0]["uuid"]


def command(text, folder, *more):
    return subprocess.run([PROGRAM, "symbolicate", "--index", str(folder), *more], input=text,
                          capture_output=True, timeout=60)


class Demo(unittest.TestCase):
    def test_over_http_and_by_hand(self):
        with Daemon() as d, tempfile.TemporaryDirectory() as folder:
            text = (CRASH % "4c4c44dc55553144a100c10e3a4b6d1e").encode()
            answer = d.request("POST", "/v1/symbolicate", text, TEXT)
            self.assertEqual((answer.status, answer.body), (200, text))  # no symbols yet
            d.upload(pathlib.Path("tests/demo/Shop.dSYM.zip").read_bytes())
            text = (CRASH % uuid_of(d).replace("-", "").lower()).encode()
            answer = d.request("POST", "/v1/symbolicate", text, TEXT)
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(answer.headers["Content-Type"], "text/plain; charset=utf-8")
            lines = answer.body.decode().split("\r\n")
            filled = [line for line in lines if " (in Shop) (" in line]
            self.assertEqual([line.split("\t")[1].strip() for line in filled], [
                "0x1004f8084 step_rows (in Shop) (FeedStore.m:9) [inlined]",
                "0x1004f8084 -[FeedStore loadItems] (in Shop) (FeedStore.m:15)",
                "0x1004f813c -[FeedViewController viewDidLoad] (in Shop) (FeedViewController.m:10)"])
            kept = [line for line in lines if line not in filled]
            given = [line for line in text.decode().split("\r\n") if " 0x1004f4000 + " not in line]
            self.assertEqual(kept, given)
            # The same of the JSON form, the same by hand.
            frames = d.request("POST", "/v1/symbolicate", (
                '{"images":[{"uuid":"%s","name":"Shop","load_address":"0x1004f4000"}],'
                '"stacks":[["0x1004f8084","0x1004f813c"]]}' % uuid_of(d)).encode(),
                {"Content-Type": "application/json"}).json["stacks"][0]
            names = [f["function"] for raw in frames for f in raw["frames"]]
            self.assertEqual([line.split("0x1004f8")[1][4:].split(" (in ")[0] for line in filled],
                             names)
            with zipfile.ZipFile("tests/demo/Shop.dSYM.zip") as demo:
                demo.extractall(folder)
            subprocess.run([PROGRAM, "index", folder + "/Shop.dSYM", "-o", folder + "/index"],
                           check=True, capture_output=True)
            for index in (folder + "/index", d.folder / "data" / "symbols"):
                done = command(text, index)
                self.assertEqual((done.returncode, done.stdout), (0, answer.body), done.stderr)
                self.assertEqual(done.stderr, b"stallsymd symbolicate: 2 of 3 frames filled in\n")

    def test_command_line(self):
        self.assertEqual(command(b"no frame here\n", EMPTY).returncode, 3)
        self.assertEqual(command(b"0 a 0x1 b\n", EMPTY).stdout, b"0 a 0x1 b\n")
        self.assertEqual(command(b"", EMPTY, "--callers", "some").returncode, 2)
        self.assertEqual(command(b"", EMPTY, "a", "b").returncode, 2)
        self.assertEqual(command(b"", EMPTY, "/nowhere/text").returncode, 1)
        self.assertEqual(subprocess.run([PROGRAM, "symbolicate"], capture_output=True).returncode, 2)


@unittest.skipUnless(SYMBOLS.is_dir(), "skipped: no data at %s" % SYMBOLS)
class Answers(unittest.TestCase):
    """Texts of two test programs with the answers of Apple's tools."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for dsym in SYMBOLS.glob("*.dSYM"):
            subprocess.run([PROGRAM, "index", str(dsym), "-o", self.folder.name], check=True,
                           capture_output=True)

    def answer(self, name):
        done = command((REPORTS / "answers" / name).read_bytes(), self.folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().splitlines()

    def test_crash_and_sample(self):
        for name, want in (("Crashes/single-target-crash.crash",
                            "Crashes/single-target-crash_symbolicated.crash"),
                           ("Samples/singlethread-sample.txt",
                            "Samples/singlethread-sample_symbolicated.txt")):
            self.assertEqual(self.answer(name),
                             (REPORTS / "answers" / want).read_text().splitlines())

    def test_ips(self):
        lines = self.answer("Crashes/single-target-crash.ips")
        want = (REPORTS / "answers/Crashes/single-target-crash_symbolicated.ips").read_text()
        frames = [line.split() for line in want.splitlines() if line[:1].isdigit()]
        self.assertEqual([line.split() for line in lines if line[:1].isdigit()], frames)

    def test_nothing_else_changes(self):
        for path in [*REPORTS.rglob("*"), *(DATA / "reports" / "apple").rglob("*")]:
            if not path.is_file() or path.suffix == ".ips":
                continue
            done = command(path.read_bytes(), EMPTY)
            self.assertEqual((done.returncode, done.stdout), (0, path.read_bytes()), path)


if __name__ == "__main__":
    unittest.main()
