"""Flame graphs of the real daemon: they add up to the figures, and speedscope takes them."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from daemon import Daemon

HOSTILE = "</title><script>alert(1)</script>;\\u2028 & \\\"]]>"


def walk(node):
    yield node
    for child in node["children"]:
        yield from walk(child)


def speedscope():
    """The unpacked npm package: of STALLSYM_SPEEDSCOPE, else fetched; or why there is none."""
    given = os.environ.get("STALLSYM_SPEEDSCOPE")
    if given:
        return given, None
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "node and npm are not installed"
    folder = tempfile.mkdtemp(prefix="stallsym-speedscope-")
    try:
        subprocess.run(["npm", "pack", "speedscope@1.25.0"], cwd=folder, check=True, timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run("tar xzf speedscope-*.tgz", cwd=folder, shell=True, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        return None, "npm pack speedscope: %s" % error
    return folder + "/package", None


class Flamegraph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon().start()
        cls.daemon.upload(pathlib.Path("tests/demo/Shop.dSYM.zip").read_bytes())
        for name in ("before", "after"):
            cls.daemon.post_reports(pathlib.Path("tests/demo/%s.ndjson" % name).read_bytes(),
                                    "application/x-ndjson")
        cls.daemon.post_reports(json.dumps({
            "app": {"bundle_id": "com.example.other", "version": "1"}, "sample_rate": 0.4,
            "reports": [{"id": "hang", "kind": "hang", "duration_ms": 9000, "samples": [
                {"offset_ms": 1000, "stack": [{"address": "0x10", "symbol": "lock"}]},
                {"offset_ms": 4000, "stack": [{"address": "0x20", "symbol": "parse"}]},
                {"offset_ms": 8500, "stack": [{"address": "0x30", "symbol": json.loads('"%s"' % HOSTILE)}]},
            ]}]}).encode())
        cls.daemon.settle()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.__exit__(None, None, None)

    def ask(self, query, media):
        answer = self.daemon.request("GET", "/v1/flamegraph?" + query)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["Content-Type"], media)
        return answer.body.decode()

    def tree(self, query):
        return json.loads(self.ask(query, "application/json"))

    def test_totals_are_the_figures(self):
        for query in ("bundle_id=com.example.shop", "bundle_id=com.example.shop&version=7.2.1",
                      "bundle_id=com.example.shop&page=FeedViewController",
                      "bundle_id=com.example.shop&device=iPhone14,7",
                      "bundle_id=com.example.shop&kind=stall&min_duration_ms=1500"):
            rows = self.daemon.get("/v1/breakdown?by=%s&limit=1000&%s" % (
                "device" if "device" in query else "version", query))["items"]
            for weight, want in (("count", sum(r["weighted_count"] for r in rows)),
                                 ("time", round(1000 * sum(r["stall_seconds"] for r in rows)))):
                tree = self.tree(query + "&weight=" + weight)
                self.assertEqual(tree["total"], want, query)
                nodes = list(walk(tree["root"]))
                self.assertEqual(len(nodes) - 1, tree["nodes"])
                self.assertEqual(sum(n["self"] for n in nodes), want)
                for n in nodes:
                    self.assertEqual(n["value"], n["self"] + sum(c["value"] for c in n["children"]))
                folded = self.ask(query + "&format=folded&weight=" + weight, "text/plain; charset=utf-8")
                self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()), want)

    def test_inlined_calls_are_nodes(self):
        names = {n["name"]: n for n in walk(self.tree("bundle_id=com.example.shop")["root"])}
        self.assertEqual([c["name"] for c in names["-[FeedStore loadItems]"]["children"]], ["step_rows"])
        self.assertEqual(names["step_rows"]["file"], "/src/Shop/FeedStore.m")
        self.assertTrue(names["step_rows"]["in_app"])

    def test_samples_have_their_time(self):
        lines = dict(line.rsplit(" ", 1) for line in self.ask(
            "bundle_id=com.example.other&weight=time&format=folded",
            "text/plain; charset=utf-8").rstrip("\n").split("\n"))
        self.assertEqual(sorted(int(v) for v in lines.values()), [1250, 10000, 11250])
        self.assertEqual((lines["lock"], lines["parse"]), ("10000", "11250"))
        self.assertEqual(self.tree("bundle_id=com.example.other")["total"], 2.5)

    def test_hostile_names_are_text(self):
        svg = self.ask("bundle_id=com.example.other&weight=time&format=svg", "image/svg+xml")
        root = xml.etree.ElementTree.fromstring(svg)
        spaces = "{http://www.w3.org/2000/svg}"
        self.assertEqual(len(list(root.iter(spaces + "script"))), 1)
        titles = [t.text.split("\n")[0] for t in root.iter(spaces + "title")]
        self.assertIn("</title><script>alert(1)</script>;\u2028 & \"]]>", titles)

    def test_two_versions(self):
        query = "bundle_id=com.example.shop&version=7.2.1&compare_version=7.2.0&weight=time"
        tree = self.tree(query)
        self.assertEqual((tree["version"], tree["compare_version"]), ("7.2.1", "7.2.0"))
        for n in walk(tree["root"]):
            want = n["value"] / tree["total"] - n["compare_value"] / tree["compare_total"]
            self.assertAlmostEqual(n["delta"], want, 6)
        self.assertIn('class="f p', self.ask(query + "&format=svg", "image/svg+xml"))

    def test_speedscope_takes_them(self):
        package, why_not = speedscope()
        if why_not:
            print("skipped: " + why_not)
            self.skipTest(why_not)
        query = "bundle_id=com.example.shop&weight=time"
        total = self.tree(query)["total"]
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for name, more, media in (("one.json", "&format=speedscope", "application/json"),
                                      ("folded.txt", "&format=folded", "text/plain; charset=utf-8"),
                                      ("two.json", "&format=speedscope&version=7.2.1&compare_version=7.2.0",
                                       "application/json")):
                files.append(os.path.join(folder, name))
                pathlib.Path(files[-1]).write_text(self.ask(query + more, media))
            done = subprocess.run(["node", "tests/e2e/speedscope_import.mjs", package, *files],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            one, folded, two = [json.loads(line)["profiles"] for line in done.stdout.splitlines()]
        self.assertEqual(one, [{"name": "com.example.shop", "unit": "milliseconds", "total": total}])
        self.assertEqual([p["total"] for p in folded], [total])
        self.assertEqual([p["name"] for p in two], ["7.2.1", "7.2.0"])
        self.assertEqual(sum(p["total"] for p in two), total)


if __name__ == "__main__":
    unittest.main()
