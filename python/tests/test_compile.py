"""compile(): kernels as functions of arrays.  Standard library alone; numpy and torch, where they are, too."""
import array
import importlib.util
import math
import os
import pathlib
import random
import shutil
import signal
import tempfile
import types
import unittest

import tileflow

PRODUCT = {"workload": {"name": "layer", "dims": {"m": 7, "n": 9, "k": 5},
                        "ops": ["C[m,n] += A[m,k] * B[k,n]", "R[m,n] = relu(C[m,n])"]}}
HOST = pathlib.Path(__file__).resolve().parents[2] / "arch-specs/host-template.yaml"
TYPES = {"f": ("float32", 4), "b": ("int8", 1), "d": ("float64", 8)}


class Fake:
    """An array as numpy shows it, with gaps between rows."""

    def __init__(self, shape, fill=lambda: 0, code="f", gap=0):
        name, size = TYPES[code]
        self.width = (shape[-1] if shape else 1) + gap
        rows = math.prod(shape[:-1])
        self.values = array.array(code, [fill() for _ in range(rows * self.width)])
        self.shape, self.dtype = shape, types.SimpleNamespace(name=name, itemsize=size)
        strides, step = [size], self.width * size
        for extent in reversed(shape[1:]):
            strides.insert(0, step)
            step *= self.shape[len(shape) - len(strides)] if len(strides) > 1 else 1
        self.strides = tuple(strides[-len(shape):]) if shape else ()
        self.__array_interface__ = {"data": (self.values.buffer_info()[0], False)}

    def __getitem__(self, at):
        return self.values[at[0] * self.width + at[1]]


def product(A, B):
    return [[max(0, sum(A[m, k] * B[k, n] for k in range(5))) for n in range(9)] for m in range(7)]


@unittest.skipUnless(shutil.which("make") and shutil.which(os.environ.get("CC", "cc")), "no make or no C compiler")
class Compile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.f = tileflow.compile(PRODUCT, HOST)

    def test_values_with_and_without_gaps(self):
        draw = random.Random(1).uniform
        for gap in (0, 3):
            A, B, R = (Fake(s, lambda: draw(-1, 1), gap=gap) for s in ((7, 5), (5, 9), (7, 9)))
            before = R.values.tobytes() if gap else None
            self.assertIs(self.f(A, B=B, out=R, threads=1), R)
            for m, row in enumerate(product(A, B)):
                for n, value in enumerate(row):
                    self.assertAlmostEqual(R[m, n], value, places=5)
            if gap:  # what lies between rows is nobody's
                old = array.array("f", before)
                kept = [k for k in range(len(old)) if k % R.width >= 9]
                self.assertEqual([old[k] for k in kept], [R.values[k] for k in kept])

    def test_einsum(self):
        draw, f = random.Random(2).uniform, tileflow.compile(tileflow.from_einsum("mk,nk->nm", (6, 5), (4, 5)), HOST)
        A, B = Fake((6, 5), lambda: draw(-1, 1)), Fake((4, 5), lambda: draw(-1, 1))
        O = Fake((4, 6))
        f(A, B, out=O)
        for n in range(4):
            for m in range(6):
                self.assertAlmostEqual(O[n, m], sum(A[m, k] * B[n, k] for k in range(5)), places=5)

    def test_it_says_what_it_is(self):
        self.assertEqual(self.f.inputs, {"A": (7, 5), "B": (5, 9)})
        self.assertEqual(self.f.outputs, {"R": (7, 9)})
        self.assertIn("A[7, 5], B[5, 9] -> R[7, 9]", repr(self.f))

    def test_mistakes_are_told_before_the_call(self):
        A, B, R = Fake((7, 5)), Fake((5, 9)), Fake((7, 9))
        turned = Fake((5, 9))
        turned.strides = (4, 20)
        for arguments, said in (((A,), "no array for B"), ((A, B, B), "2 inputs, not 3"), ((A, Fake((5, 8))), "has shape"),
                                ((A, Fake((5, 9), code="d")), "holds float64"), ((A, turned), "lie 5 apart"),
                                ((A, [1, 2]), "an array of numpy")):
            with self.assertRaisesRegex((TypeError, ValueError), said):
                self.f(*arguments, out=R)
        with self.assertRaisesRegex(TypeError, "no input is called C"):
            self.f(A, C=B, out=R)
        with self.assertRaisesRegex(TypeError, "given twice: A"):
            self.f(A, B, A=A, out=R)
        with self.assertRaisesRegex(TypeError, "no output is called Q"):
            self.f(A, B, out={"Q": R})

    def test_arrays_that_a_kernel_would_misread_or_spoil(self):
        """Bytes in another order, off their boundary, behind a mask; results read-only, folded, over an input."""
        A, B, R = Fake((7, 5)), Fake((5, 9)), Fake((7, 9))

        def changed(fake, **changes):
            twin = types.SimpleNamespace(**{k: getattr(fake, k) for k in ("shape", "dtype", "strides", "__array_interface__")})
            twin.__dict__.update(changes)
            return twin

        swapped = types.SimpleNamespace(name="float32", itemsize=4, isnative=False, str=">f4")
        at = A.__array_interface__["data"][0]
        for X, said in ((changed(A, dtype=swapped), "in the order of other computers"), (changed(A, mask=True), "a plain array"),
                        (changed(A, __array_interface__={"data": b"bytes"}), "a plain array"),
                        (changed(A, __array_interface__={"data": (at + 1, False)}), "at a multiple of")):
            with self.assertRaisesRegex((TypeError, ValueError), said):
                self.f(X, B, out=R)
        at = R.__array_interface__["data"][0]
        for X, said in ((changed(R, __array_interface__={"data": (at, True)}), "R is read-only"),
                        (changed(R, strides=(0, 4)), "lie on each other"), (changed(R, strides=(32, 4)), "lie on each other")):
            with self.assertRaisesRegex(ValueError, said):
                self.f(A, B, out=X)

    def test_results_lie_beside_inputs_not_over_them(self):
        draw, both = random.Random(3).uniform, Fake((7, 14))
        both.values[:] = array.array("f", (draw(-1, 1) for _ in both.values))
        A, B, R = Fake((7, 5), gap=9), Fake((5, 9), lambda: draw(-1, 1)), Fake((7, 9), gap=5)
        at = both.values.buffer_info()[0]
        A.__array_interface__["data"] = (at, False)
        want = product(both, B)
        for column in (0, 4):
            R.__array_interface__["data"] = (at + 4 * column, False)
            with self.assertRaisesRegex(ValueError, "R overlaps A"):
                self.f(A, B, out=R)
        R.__array_interface__["data"] = (at + 4 * 5, False)  # the columns that are left
        self.f(A, B, out=R)
        for m, row in enumerate(want):
            for n, value in enumerate(row):
                self.assertAlmostEqual(both[m, 5 + n], value, places=5)

    def test_threads(self):
        """Of one call alone; and a child of fork(), which OpenMP's threads do not follow, has one instead of waiting."""
        f = tileflow.compile({"workload": {"name": "large", "dims": {"m": 192, "n": 192, "k": 192},
                                           "ops": ["C[m,n] += A[m,k] * B[k,n]"]}}, HOST)
        A, B, C = Fake((192, 192), lambda: 1), Fake((192, 192), lambda: 2), Fake((192, 192))
        most = f._library.omp_get_max_threads()
        f(A, B, out=C, threads=3)
        self.assertEqual(f._library.omp_get_max_threads(), most)
        for wrong in (0, -1, 10 ** 6, "2", 1.5):
            with self.assertRaises((TypeError, ValueError)):
                f(A, B, out=C, threads=wrong)
        for threads in (None, 2):
            C.values[0] = 0
            child = os.fork()
            if not child:
                signal.alarm(60)
                f(A, B, out=C, threads=threads)
                os._exit(C.values[0] != 384)
            self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_compiler_with_arguments(self):
        compiler = os.environ.get("CC", "cc")
        self.assertEqual(tileflow.compile(PRODUCT, HOST, cc=compiler + " -DANY_NAME=1").inputs, self.f.inputs)

    def test_sources_are_kept_where_told_and_this_computer_is_the_rule(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "sources")
            f = tileflow.compile(PRODUCT, out=out, isa="portable")
            self.assertEqual(f.manifest["isa"], "portable")
            self.assertTrue(os.path.exists(os.path.join(out, "kernel.c")))
            with self.assertRaises(tileflow.Error):  # a folder that is there
                tileflow.compile(PRODUCT, out=out)

    def test_several_outputs_and_vectors(self):
        f = tileflow.compile({"workload": {"name": "sums", "dims": {"m": 4, "n": 6},
                                           "ops": ["Z[m] += A[m,n]", "Y[m] = Z[m] * 2"]}}, HOST)
        A, Y = Fake((4, 6), iter(range(24)).__next__), Fake((4,))
        f(A, out={"Y": Y})
        self.assertEqual(list(Y.values), [2 * sum(range(6 * m, 6 * m + 6)) for m in range(4)])

    def test_arguments_go_by_name(self):
        """An input that is read after the output is made, and names that C forbids."""
        f = tileflow.compile({"workload": {"name": "linear", "dims": {"m": 3, "n": 4, "k": 2}, "ops": [
            "Y[m,n] += X[m,k] * W[n,k]", "float[m,n] = relu(Y[m,n] + bias[n])"]}}, HOST)
        X, W, bias, R = Fake((3, 2), iter(range(6)).__next__), Fake((4, 2), lambda: 1), Fake((4,), iter(range(-9, -5)).__next__), Fake((3, 4))
        f(X=X, W=W, bias=bias, out=R)
        self.assertEqual([R[m, n] for m in range(3) for n in range(4)],
                         [max(0, 4 * m + 1 - 9 + n) for m in range(3) for n in range(4)])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no numpy")
    def test_numpy(self):
        import numpy
        A, B = numpy.random.default_rng(1).standard_normal((2, 9, 9), dtype=numpy.float32)
        R = self.f(A[:7, :5], B[:5])
        numpy.testing.assert_allclose(R, numpy.maximum(A[:7, :5].astype(float) @ B[:5], 0), atol=1e-5)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no torch")
    def test_torch(self):
        import torch
        A, B = torch.randn(7, 5), torch.randn(5, 9)
        torch.testing.assert_close(self.f(A, B), torch.relu(A @ B))


if __name__ == "__main__":
    unittest.main()
