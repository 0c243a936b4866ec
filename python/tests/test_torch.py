"""from_torch(), where PyTorch is installed, with what it writes ONNX by (onnxscript)."""
import importlib.util
import pathlib
import shutil
import unittest
import warnings

import tileflow

ROOT = pathlib.Path(__file__).resolve().parents[2]
EDGE = ROOT / "arch-specs/edge.yaml"
HOST = ROOT / "arch-specs/host-template.yaml"


@unittest.skipUnless(all(importlib.util.find_spec(m) for m in ("torch", "onnxscript")), "no torch, or no onnxscript")
class FromTorch(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")  # torch's own

    def test_a_layer_is_what_torch_computes(self):
        import torch
        torch.manual_seed(1)
        module = torch.nn.Sequential(torch.nn.Linear(24, 16), torch.nn.ReLU())
        x = torch.randn(8, 24)
        work = tileflow.from_torch(module, x)
        self.assertIn("workload:", work)
        self.assertIn("relu(", work)
        r = tileflow.best(EDGE, work, evals=500)
        self.assertTrue(r.mapping["feasible"])
        if not (shutil.which("make") and shutil.which("cc")):
            self.skipTest("no make or no C compiler")
        f = tileflow.compile(HOST, work)
        self.assertEqual(sorted(f.inputs.values()), [(8, 24), (16,), (16, 24)])
        given = {name: next(t for t in (x, *module.state_dict().values()) if tuple(t.shape) == shape) for name, shape in f.inputs.items()}
        torch.testing.assert_close(f(**given), module(x), atol=1e-4, rtol=1e-4)

    def test_attention(self):
        import torch

        class Attention(torch.nn.Module):
            def forward(self, q, k, v):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v)

        q, k, v = (torch.randn(1, 2, 32, 16) for _ in range(3))
        work = tileflow.from_torch(Attention(), q, k=k, v=v)
        self.assertIn("exp(", work)
        f = tileflow.compile(HOST, work, evals=200)
        got = f(**{n: {"q": q, "k": k, "v": v}[n] for n in f.inputs})
        torch.testing.assert_close(got, Attention()(q, k, v)[0], atol=1e-4, rtol=1e-4)  # extents of 1 have no rank

    def test_what_the_importer_lacks_is_an_error(self):
        import torch

        class Arc(torch.nn.Module):
            def forward(self, x):
                return torch.atan(x)

        with self.assertRaises(tileflow.Error) as caught:
            tileflow.from_torch(Arc(), torch.randn(4, 5))
        self.assertIn("Atan", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
