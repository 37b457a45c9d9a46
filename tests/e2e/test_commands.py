"""The table of subcommands: help, exit codes, and that nothing written to a full disk counts."""
import json
import os
import re
import subprocess
import tempfile
import unittest
import zipfile

PROGRAM = os.environ["STALLSYMD"]


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, **more)


def listed():
    """Name and line of each command, as the program lists them."""
    text = run("help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return dict(re.fullmatch(r"  (\S+)\s+(.+)", line).groups() for line in text.splitlines())


class Commands(unittest.TestCase):
    def test_list(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("run", "index", "lookup", "cluster", "check-config", "migrate", "version"):
            self.assertIn(name, listed())

    def test_each_describes_itself(self):
        for name, line in listed().items():
            if name == "help":
                continue
            done = run(name, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertTrue(done.stdout.startswith("stallsymd %s - %s\n" % (name, line)), name)
            self.assertIn("\nUsage: stallsymd %s" % name, done.stdout)
            self.assertEqual(done.stdout, run("help", name).stdout)
            self.assertLessEqual(max(len(row) for row in done.stdout.splitlines()), 100, name)

    def test_wrong_command_lines(self):
        for arguments in ([], ["frobnicate"], ["help", "frobnicate"], ["version", "now"],
                          ["index"], ["index", "--frobnicate"]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertNotEqual(done.stderr, "", arguments)

    def test_version(self):
        done = run("version")
        self.assertEqual(done.returncode, 0)
        first, *libraries = done.stdout.splitlines()
        self.assertRegex(first, r"^stallsymd \d+\.\d+\.\d+$")
        names = [row.split()[0] for row in libraries]
        self.assertEqual(names, ["libdwarf", "libmicrohttpd", "sqlite", "libarchive", "jansson",
                                 "libcurl", "zlib", "zstd"])
        self.assertEqual(run("--version").stdout, done.stdout)

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "version"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write", done.stderr)

    def test_symbolicate_needs_its_indexes(self):
        for folder in ("/nope", "/dev/null"):
            done = run("symbolicate", "/dev/null", "--index", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot open --index " + folder, done.stderr)

    def test_index_of_a_folder_says_what_to_give(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("index", folder, "-o", folder + "/out")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Contents/Resources/DWARF", done.stderr)

    def test_index_takes_a_dsym_as_it_lies_there(self):
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile("tests/demo/Shop.dSYM.zip") as demo:
                demo.extractall(folder)
            dsym = folder + "/Shop.dSYM"
            done = run("index", dsym + "/", "-o", folder + "/out")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            slice = json.loads(done.stdout)
            self.assertEqual((slice["name"], slice["state"]), ("Shop", "indexed"))
            open(dsym + "/Contents/Resources/DWARF/Second", "w").close()
            done = run("index", dsym, "-o", folder + "/out")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("has 2 files", done.stderr)


if __name__ == "__main__":
    unittest.main()
