"""The package against the executable, and what only the package does."""
import contextlib
import io
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import xml.dom.minidom

import tileflow
from tileflow import _find, _inputs

ROOT = pathlib.Path(__file__).resolve().parents[2]
MATMUL = "examples/matmul.yaml"
EDGE = ("arch-specs/edge.yaml", "workloads/attention/g1.yaml")
FLAT = "workloads/dataflows/edge/attention-flat-rgran.yaml"
ARCHITECTURE = {
    "name": "small", "clock": "1 GHz", "word-bits": 16, "overlap": "perfect",
    "memories": [{"name": "DRAM", "bandwidth": 8}, {"name": "Buffer", "capacity": "8 KiB", "bandwidth": 512}],
    "compute": [{"name": "matrix", "ops": ["mac"], "below": "Buffer", "mesh": [16, 16]}]}
WORKLOAD = {"name": "matmul", "dims": {"m": 64, "n": 64, "k": 64}, "ops": ["C[m,n] += A[m,k] * B[k,n]"]}
MAPPING = """
    DRAM for m=4 n=4
      Buffer for k=64 spatial m=16@x n=16@y
        op C
    """


def tool(*arguments):
    return subprocess.run([_find.executable(), *arguments], capture_output=True, text=True)


def small(**changes):
    return {"architecture": {**ARCHITECTURE, **changes}, "workload": WORKLOAD}


class Case(unittest.TestCase):
    def setUp(self):
        os.chdir(ROOT)

    def error(self, f, *inputs, **options):
        with self.assertRaises(tileflow.Error) as caught:
            f(*inputs, **options)
        return caught.exception


class Inputs(Case):
    def test_files(self):
        r = tileflow.eval(*EDGE, pathlib.Path(FLAT))
        self.assertEqual(r, json.loads(tool("eval", *EDGE, FLAT, "--json", "-").stdout))
        self.assertEqual((r.cycles, r.levels[0]["name"]), (r["cycles"], "DRAM"))
        with self.assertRaises(AttributeError):
            r.cycle

    def test_dicts_and_texts_are_files(self):
        want = tileflow.eval(MATMUL)
        text = pathlib.Path(MATMUL).read_text()
        for inputs, named in (((text,), {}), ((small(), MAPPING), {}),
                              ((), dict(architecture=ARCHITECTURE, workload=WORKLOAD, mapping=MAPPING)),
                              ((), dict(architecture=small(), mapping=MAPPING)),
                              ((small(), want), {}), ((small(),), dict(mapping={"mapping": MAPPING}))):
            r = tileflow.eval(*inputs, **named)
            for key in set(want) - {"why"}:  # which has lines
                self.assertEqual(r[key], want[key], key)

    def test_json_is_yaml(self):
        want = tileflow.eval(small(), MAPPING).cycles
        for text in (json.dumps(small(), indent=1), json.dumps(small()) + "\n"):
            self.assertEqual(tileflow.eval(text, MAPPING).cycles, want)
        quoted = "".join(f'"{line.rstrip(":")}":\n' if line[:1] not in " " else line + "\n" for line in _inputs.to_yaml(small()).splitlines())
        self.assertIn('"architecture":', quoted)
        self.assertEqual(tileflow.eval(quoted, MAPPING).cycles, want)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.json")
            path.write_text(json.dumps(small()))
            self.assertTrue(_inputs.source(path).holds("architecture"))
            self.assertEqual(_inputs.source(path).without({"mapping"}).path, str(path))
            self.assertEqual(_inputs.source(path).without({"workload"})._sections(), set(small()) - {"workload"})

    def test_what_was_found_replaces_what_was_given(self):
        machine = small()
        machine["architecture"]["memories"] = [{"name": "DRAM", "energy": "100 pJ", "line": 8},
                                               {"name": "Buffer", "capacity": 4096, "line": 4, "banks": 4, "energy": "1 pJ"}]
        lies = {"Buffer": {machine["workload"]["ops"][0].split("[")[0]: [1, 0]}}
        for given in ({"mapping": MAPPING}, {"layout": lies}, {"mapping": MAPPING, "layout": lies}):
            whole = {**machine, **given}
            for source in (whole, _inputs.to_yaml(whole)):
                r = tileflow.search(source, evals=300, objective="energy", seed=3)
                self.assertLess(r.search["layouts"]["evaluations"], 301)
                self.assertEqual(set(r.mapping["layout"]) - {"DRAM", "Buffer"}, set())
                self.assertEqual((r.tree().energy_pj, r.tree().cycles), (r.energy_pj, r.cycles))
                self.assertEqual(tileflow.eval(machine, r).energy_pj, r.energy_pj)

    def test_files_beside_a_file_whose_mapping_is_replaced(self):
        whole = {**small(), "mapping": MAPPING}
        tensor = re.findall(r"\w+(?=\[)", whole["workload"]["ops"][0])[1]
        whole["workload"] = {**WORKLOAD, "tensors": {tensor: {"density": {"file": "at/zeros.mtx"}}}}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "whole.yaml")
            path.write_text(_inputs.to_yaml(whole))
            pathlib.Path(folder, "at").mkdir()
            pathlib.Path(folder, "at", "zeros.mtx").write_text("0 0\n1 1\n")
            r = tileflow.search(path, evals=50)
            self.assertEqual(r.tree().energy_pj, r.energy_pj)

    def test_a_section_is_left_out_line_by_line(self):
        text = "architecture:\n  name: a\nmapping: |\n  DRAM\n\n    op C\n# of the workload\nworkload:\n  dims: {}\n"
        self.assertEqual(_inputs.source(text).without({"mapping"}).text,
                         "architecture:\n  name: a\n\n\n\n\n\nworkload:\n  dims: {}\n")
        self.assertIsNone(_inputs.source("mapping: |\n  DRAM\n").without({"mapping"}))

    def test_set(self):
        machine = {"params": {"kib": 8}, **small()}
        machine["architecture"]["memories"] = [ARCHITECTURE["memories"][0],
                                               {"name": "Buffer", "capacity": "kib KiB", "bandwidth": 512}]
        for kib, fits in ((8, True), (1, False)):
            r = tileflow.eval(machine, MAPPING, set={"kib": kib})
            self.assertEqual((r.mapping["feasible"], r.levels[1]["capacity_words"]), (fits, kib * 512))
        self.assertEqual(r.mapping["violations"][0]["file"], "<mapping>")
        self.assertIn("<svg", r._repr_svg_())

    def test_any_text_is_written_so_that_it_reads_back(self):
        for name in ("a: b", "a #b", "- x", "x ", " x", '"', "'", "[a", "{a", "é", "true", "12", "a\\b", "%", "&a", "a:"):
            self.assertEqual(tileflow.eval(small(name=name), MAPPING).architecture, name)

    def test_yaml(self):
        self.assertEqual(_inputs.to_yaml({"a": [1, {"b": None, "c": []}, [True, 0.5]], "m": "x\n  y\n", "d": {}}),
                         "a:\n  - 1\n  -\n    b: null\n    c: []\n  -\n    - true\n    - 0.5\nm: |\n  x\n    y\nd: {}\n")
        self.assertEqual(_inputs.to_yaml({"m": "  x\ny\n"}), "m: |2\n    x\n  y\n")  # a line as far out as no other
        self.assertIn("without control characters", str(self.error(tileflow.eval, small(name="a\x85b"), MAPPING)))
        for wrong in (3, {"a": object()}):
            with self.assertRaises(TypeError):
                tileflow.eval(wrong)


class Errors(Case):
    def test_same_text_as_the_command(self):
        unpacked = tempfile.TemporaryDirectory()
        self.addCleanup(unpacked.cleanup)
        subprocess.run(["sh", "tests/bad/unpack.sh", unpacked.name], check=True)
        for path in sorted(pathlib.Path(unpacked.name, "tests/bad").glob("*/*.yaml"))[::9]:
            done = tool("check", str(path))
            if done.returncode == 2:
                e = self.error(tileflow.check, path)
                self.assertEqual(str(e), done.stderr.rstrip("\n"), path)
                self.assertEqual("\n".join(d.text for d in e.diagnostics), str(e), path)

    def test_located_in_a_dict(self):
        e = self.error(tileflow.eval, small(clok="1 GHz", overlap="perfct"), MAPPING)
        first, second = e.diagnostics
        self.assertEqual((e.status, first.severity, first.file, second.code), (2, "error", "<architecture workload>", "E_KEY"))
        line = _inputs.to_yaml(small(clok="1 GHz", overlap="perfct")).splitlines()[second.line - 1]
        self.assertEqual(line[second.column - 1:][:4], "clok")
        self.assertIn("'clock'", second.message)
        self.assertIn(line, second.text)
        self.assertEqual(second.text.splitlines()[2].count("^"), 1)
        e = self.error(tileflow.eval, small(), MAPPING.replace("op C", "op D"))
        self.assertEqual((e.diagnostics[0].file, e.diagnostics[0].line), ("<mapping>", 4))
        self.assertEqual(str(pickle.loads(pickle.dumps(e))), str(e))

    def test_options_and_files(self):
        self.assertIn("did you mean '--set'", str(self.error(tileflow.eval, MATMUL, sed=3)))
        d = self.error(tileflow.eval, "nowhere.yaml").diagnostics[0]
        self.assertEqual((d.file, d.line, d.code), ("nowhere.yaml", None, "E_IO"))
        self.assertIn("-x.yaml", str(self.error(tileflow.eval, "-x.yaml")))

    def test_set_is_a_dict(self):
        for wrong in ("kib=4", [("kib", 4)], 4):
            with self.assertRaisesRegex(TypeError, "set= takes a dict"):
                tileflow.eval(MATMUL, set=wrong)

    def test_nothing_fits(self):
        memories = [ARCHITECTURE["memories"][0], {"name": "Buffer", "capacity": "2 B", "bandwidth": 512}]
        self.assertEqual(self.error(tileflow.search, small(memories=memories), MAPPING.replace("k=64", "k=?"), evals=9).status, 3)

    def test_where_it_looked(self):
        before = os.environ["TILEFLOW"]
        try:
            os.environ["TILEFLOW"] = "/nowhere"
            for find in (_find.executable, _find.library):
                with self.assertRaisesRegex(tileflow.NotFound, r"/nowhere.*\(TILEFLOW\)"):
                    find()
            del os.environ["TILEFLOW"]
            path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
            with self.assertRaisesRegex(tileflow.NotFound, r"(?s)\(the package\).*set TILEFLOW"):
                _find.executable()
            os.environ["PATH"] = before
            if os.path.isfile(before + "/tileflow"):
                self.assertEqual(_find.executable(), before + "/tileflow")
            os.environ["PATH"] = path
        finally:
            os.environ["TILEFLOW"] = before

    def test_ctrl_c(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")

            def press():  # once the search has found something
                while not log.exists() or len(log.read_text().splitlines()) < 5:
                    time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGINT)

            threading.Thread(target=press, daemon=True).start()
            with self.assertRaises(tileflow.Interrupted) as caught:
                tileflow.search(*EDGE, evals=10**12, threads=1, log=log)
        self.assertEqual(caught.exception.best.search["stopped_by"], "interrupt")
        self.assertGreater(caught.exception.best.cycles, 0)


class Commands(Case):
    def test_the_module_is_the_tool(self):
        for arguments in (["--version"], ["eval", MATMUL], ["no-such-command"]):
            module = subprocess.run([sys.executable, "-m", "tileflow", *arguments], capture_output=True, text=True)
            itself = tool(*arguments)
            self.assertEqual((module.returncode, module.stdout, module.stderr),
                             (itself.returncode, itself.stdout, itself.stderr))

    def test_solve_search_bound(self):
        least = tileflow.bound(small(), evals=200, threads=1)
        self.assertGreater(len(least.rows()), 3)
        r = tileflow.solve(small(), method="closed")
        self.assertEqual((r.search["method"], r.mapping["origin"]), ("closed", "solve"))
        self.assertGreaterEqual(r.cycles, least.bounds["cycles"])
        s = tileflow.search(small(), start=r, evals=500, seed=7, threads=1)
        self.assertEqual(s.search["seed"], 7)
        self.assertLessEqual(s.cycles, r.cycles)
        self.assertEqual(tileflow.eval(small(), s).cycles, s.cycles)
        self.assertEqual(s.tree().mapping["text"], s.mapping["text"])

    def test_best(self):
        given = tileflow.eval(small(), MAPPING)
        r = tileflow.best(small(), MAPPING, evals=400, threads=1)
        self.assertEqual(r.search["given"], {"feasible": True, "value": given.cycles})
        self.assertLessEqual(r.cycles, given.cycles)
        self.assertGreaterEqual(r.cycles, r.search["bound"])
        self.assertEqual(tileflow.eval(small(), r).cycles, r.cycles)

    def test_open_mapping(self):
        r = tileflow.search(small(), MAPPING.replace("m=4 n=4", "m=? n=?"), evals=50, threads=1)
        self.assertEqual(str(r.tree()), str(tileflow.tree(small(), r)))

    def test_sweep(self):
        study = {**small(), "params": {"kib": 8}, "sweep": {"name": "kib", "over": {"kib": [4, 8]}, "method": "bound",
                                                            "objectives": ["cycles", "area"]}}
        study["architecture"]["memories"] = [ARCHITECTURE["memories"][0],
                                             {"name": "Buffer", "capacity": "kib KiB", "bandwidth": 512}]
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder, "kib.tfdb")
            r = tileflow.sweep(study, store=store, threads=1)
            self.assertEqual(([row["kib"] for row in r.rows()], len(r.front)), ([4, 8], 1))
            self.assertEqual(tileflow.sweep(study, store=store, threads=1), r)  # goes on: nothing is left
            self.assertEqual(len(tileflow.results(store, where="kib > 4").rows()), 1)
            study["sweep"]["over"]["kib"].append(16)
            self.assertEqual(self.error(tileflow.sweep, study, store=store).diagnostics[0].code, "E_STORE")

    def test_tree(self):
        t = tileflow.tree(MATMUL)
        self.assertEqual(t.svg, tool("tree", MATMUL, "--svg", "-").stdout)
        self.assertEqual(str(t), tool("tree", MATMUL).stdout)
        self.assertEqual(t._repr_svg_(), tileflow.eval(MATMUL)._repr_svg_())
        xml.dom.minidom.parseString(t.svg)
        self.assertEqual(len(t.nodes), 3)

    def test_einsums(self):
        work = tileflow.from_einsum(["mk,kn->mn", "mn,np->mp"], (4, 3), types.SimpleNamespace(shape=(3, 5)), (5, 2), names=["X", "W", "V"], then="relu")
        for op in ("O_1[m, n] += X[m, k] * W[k, n]", "O_2[m, p] += O_1[m, n] * V[n, p]", "O[m, p] = relu(O_2[m, p])"):
            self.assertIn(f'- "{op}"', work)
        self.assertEqual(tileflow.check(work), ["workload einsum: 3 ops on 4 dims, 6 tensors (3 read, 1 written, 2 between)"])
        self.assertIn('"O[b, a] = A[a, b]"', tileflow.from_einsum("ab->ba", (2, 3)))
        self.assertIn('"O[a, c] += A[a, b] * B[b, c]"', tileflow.from_einsum("ab,bc", (2, 3), (3, 2)))  # as numpy: letters that stand once
        for einsum, shapes, words in (("mk,kn", [(2, 3), (4, 5)], "'k' is 4 in B, 3 in A"), ("mk->mz", [(2, 3)], "'z' stands in no operand"),
                                      ("mk->mm", [(2, 3)], "'m' stands twice"), ("m...->m", [(2,)], "'...' is not known"),
                                      ("mk->m", [(2,), (4,)], "takes 1 operands, 2 are given"), ("mk->m", [(2,)], "A has 1 ranks"), ([], [], "takes"),
                                      ("m->m", ["m"], "is a shape")):
            with self.assertRaisesRegex(ValueError, re.escape(words)):
                tileflow.from_einsum(einsum, *shapes)

    def test_pages(self):
        r = tileflow.eval(MATMUL)
        self.assertEqual(r.html(), tool("eval", MATMUL, "--html", "-").stdout)
        self.assertTrue(r._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html'))
        self.assertEqual(r._repr_html_().count('"'), 4)  # of the two attributes alone
        self.assertIsNone(r.tree()._repr_html_())
        least = tileflow.bound(MATMUL, evals=1)
        self.assertIsNone(least._repr_html_())
        self.error(least.html)
        self.assertIn("no mapping", str(self.error(least.tree)))

    def test_notebooks(self):
        """Their cells, from top to bottom."""
        found = sorted((ROOT / "python/examples").glob("*.ipynb"))
        self.assertTrue(found)
        for path in found:
            names, cells = {}, json.loads(path.read_text(encoding="utf-8"))["cells"]
            for cell in cells:
                if cell["cell_type"] == "code":
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile("".join(cell["source"]), path.name, "exec"), names)
                    self.assertEqual(cell["outputs"], [], "outputs are not kept")
            self.assertTrue(names["sweep"]._repr_html_().startswith("<iframe"))
            self.assertLessEqual(names["best"].bounds["cycles"], names["best"].cycles)

    def test_check_run_emit(self):
        self.assertEqual(tileflow.check(MATMUL), tool("check", MATMUL).stdout.splitlines())
        self.assertEqual(tileflow.run("eval", MATMUL).stdout, tool("eval", MATMUL).stdout)
        with tempfile.TemporaryDirectory() as folder:
            kernel = tileflow.emit(MATMUL, out=folder + "/k", isa="portable")
            self.assertEqual(kernel.manifest["isa"], "portable")
            self.assertTrue(os.path.exists(kernel.path + "/kernel.c"))
            self.error(tileflow.emit, MATMUL, out=kernel.path)

    def test_rows_and_frames(self):
        r = tileflow.eval(MATMUL)
        self.assertEqual([(w["level"], w["tensor"], w["read"]) for w in r.rows()][:2], [("DRAM", "C", 0), ("DRAM", "A", 4096)])
        self.assertEqual(r.summary()["traffic_words"], 24576)
        before = sys.modules.get("pandas")
        try:
            sys.modules["pandas"] = None
            with self.assertRaisesRegex(ImportError, "pandas"):
                r.frame()
            sys.modules["pandas"] = types.SimpleNamespace(DataFrame=list)
            self.assertEqual(r.frame(), r.rows())
            self.assertEqual(tileflow.frame([r, r])[1], r.summary())
        finally:
            del sys.modules["pandas"]
            if before:
                sys.modules["pandas"] = before

    def test_version(self):
        self.assertEqual(tool("--version").stdout, f"tileflow {tileflow.__version__}\n")

    def test_every_function_is_listed(self):
        for name in tileflow.__all__:
            self.assertTrue(hasattr(tileflow, name), name)
