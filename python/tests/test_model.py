"""Model, in this process, against the executable: the same figures, texts and errors; and the examples of the docs."""
import copy
import os
import pathlib
import pickle
import random
import re
import tempfile
import unittest

import tileflow
from test_api import EDGE, MAPPING, MATMUL, ROOT, Case, small

FLOWS = sorted(p.relative_to(ROOT) for p in ROOT.glob("workloads/dataflows/edge/attention-[!n]*.yaml"))


class ModelCase(Case):
    def same(self, figures, report):
        for key in ("cycles", "seconds", "energy_pj", "edp", "compute_utilization"):
            self.assertLessEqual(abs(getattr(figures, key) / report[key] - 1), 1e-14, key)
        self.assertEqual((figures.points, figures.bottleneck, figures.feasible),
                         (report.points, report.bottleneck, report.mapping["feasible"]))

    def test_figures(self):
        for flow in FLOWS:
            report = tileflow.eval(*EDGE, flow)
            model = tileflow.Model(*EDGE, flow)
            self.same(model.eval(), report)
            self.same(model.eval([loop.trip for loop in model.loops]), report)
            self.assertEqual(model.text(), report.mapping["text"])

    def test_other_trips(self):
        model, draw = tileflow.Model(small(), MAPPING), random.Random(1)
        self.assertEqual([(loop.dim, loop.axis) for loop in model.loops],
                         [("m", None), ("n", None), ("k", None), ("m", "x"), ("n", "y")])
        for _ in range(12):
            m, n = draw.choice((1, 2, 4, 8, 16)), draw.choice((1, 2, 3, 4, 8))
            trips = [64 // m, -(-64 // n), 64, m, n]
            self.same(model.eval(trips), tileflow.eval(small(), model.text(trips)))

    def test_set_and_many(self):
        machine = {"params": {"bw": 8}, **small()}
        machine["architecture"]["memories"] = [{"name": "DRAM", "bandwidth": "bw"}, machine["architecture"]["memories"][1]]
        cycles = [tileflow.Model(machine, MAPPING, set={"bw": bw}).eval().cycles for bw in range(1, 200)]
        self.assertEqual(cycles, sorted(cycles, reverse=True))
        self.assertLess(cycles[-1], cycles[0])

    def test_errors(self):
        model = tileflow.Model(MATMUL)
        d = self.error(model.eval, [1, 4, 64, 16, 16]).diagnostics[0]
        self.assertEqual((d.code, d.file, d.line), ("E_COVER", "<mapping>", 2))
        self.assertEqual(model.eval([4, 4, 64, 16, 16], check=False), model.eval())
        with self.assertRaises(ValueError):
            model.eval([1])
        self.assertEqual(self.error(tileflow.Model, small()).diagnostics[0].code, "E_MISSING")
        self.assertEqual(self.error(tileflow.Model, small(), MAPPING.replace("m=4", "m=?")).diagnostics[0].code, "E_OPEN")
        for inputs in ((small(clok=1), MAPPING), (small(), MAPPING.replace("op C", "op D")), ("nowhere.yaml",)):
            self.assertEqual(str(self.error(tileflow.Model, *inputs)), str(self.error(tileflow.eval, *inputs)))


    def test_files_keep_their_names(self):
        """Errors of the mapping, long after its file was read."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mapping-" + "x" * 90 + ".yaml")
            path.write_text(pathlib.Path(MATMUL).read_text().replace("op C", "op D"))
            self.assertEqual(str(self.error(tileflow.Model, path)), str(self.error(tileflow.eval, path)))

    def test_misuse(self):
        """Too few, too many, no whole numbers, beyond 64 bits; copies, which would outlive what they hold."""
        model = tileflow.Model(small(), MAPPING)
        for f in (model.eval, model.text, model.check, lambda t: model.eval(t, check=False)):
            for trips in ([1], [4, 4, 64, 16, 16, 1], [4, 4, 64, 16, 16.0], ["4", 4, 64, 16, 16], "44666", 5, [None] * 5):
                with self.assertRaises((TypeError, ValueError)):
                    f(trips)
        self.assertEqual(model.eval(iter([4, 4, 64, 16, 16])), model.eval())
        for wrong in (2**64 + 4, -4, 0):  # the first is 4 to a C compiler
            with self.assertRaises(ValueError):
                model.eval([wrong, 4, 64, 16, 16], check=False)
        for f in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "neither copied nor pickled"):
                f(model)
        with self.assertRaises(ValueError):
            tileflow.Model(MATMUL + "\0.yaml")
        self.assertEqual(str(self.error(tileflow.Model, "\udcff")), str(self.error(tileflow.eval, "\udcff")))

    def test_set_is_a_dict(self):
        with self.assertRaisesRegex(TypeError, "set= takes a dict"):
            tileflow.Model(MATMUL, set="kib=4")


class Documents(Case):
    def test_howto(self):
        """Its Python, from top to bottom, as in one notebook."""
        page = (ROOT / "docs/HOWTO-python.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 3)
        with tempfile.TemporaryDirectory() as folder:
            for shared in ("arch-specs", "workloads", "examples"):
                os.symlink(ROOT / shared, pathlib.Path(folder, shared))
            os.chdir(folder)
            names = {}
            for block in blocks:
                exec(compile(block, "docs/HOWTO-python.md", "exec"), names)
            os.chdir(ROOT)


if __name__ == "__main__":
    unittest.main()
