"""The typed stub says of the package what the package is."""
import ast
import dataclasses
import inspect
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import tileflow

STUB = pathlib.Path(tileflow.__file__).with_name("__init__.pyi")


def names(arguments):
    """Parameters of a def, in order, with * and ** before those that have them."""
    a = arguments
    out = [x.arg for x in a.posonlyargs + a.args] + (["*" + a.vararg.arg] if a.vararg else [])
    return out + sorted(x.arg for x in a.kwonlyargs) + (["**" + a.kwarg.arg] if a.kwarg else [])


def truly(function):
    p = inspect.signature(function).parameters.values()
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    plain = [stars.get(x.kind, "") + x.name for x in p if x.kind not in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)]
    return plain + sorted(x.name for x in p if x.kind == inspect.Parameter.KEYWORD_ONLY) + [
        "**" + x.name for x in p if x.kind == inspect.Parameter.VAR_KEYWORD]


class Stubs(unittest.TestCase):
    def setUp(self):
        body = ast.parse(STUB.read_text(encoding="utf-8")).body
        self.functions = {n.name: n for n in body if isinstance(n, ast.FunctionDef)}
        self.classes = {n.name: n for n in body if isinstance(n, ast.ClassDef)}

    def test_every_public_name_is_there(self):
        self.assertEqual(sorted([*self.functions, *self.classes]), sorted(tileflow.__all__))
        self.assertTrue(STUB.with_name("py.typed").exists())

    def test_functions_have_their_parameters(self):
        for name, node in self.functions.items():
            with self.subTest(name):
                self.assertEqual(names(node.args), truly(getattr(tileflow, name)))

    def test_classes_have_their_methods_and_fields(self):
        for name, node in self.classes.items():
            real = getattr(tileflow, name)
            fields = [n.target.id for n in node.body if isinstance(n, ast.AnnAssign)]
            known = getattr(real, "_fields", None) or dataclasses.is_dataclass(real) and [f.name for f in dataclasses.fields(real)]
            with self.subTest(name):
                if known:
                    self.assertEqual(fields, list(known))
                for method in (n for n in node.body if isinstance(n, ast.FunctionDef)):
                    there = inspect.getattr_static(real, method.name)
                    if not isinstance(there, property):
                        self.assertEqual(names(method.args), truly(there), method.name)

    @unittest.skipUnless(shutil.which("mypy"), "no mypy")
    def test_a_checker_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "use.py"
            path.write_text("import tileflow\nr = tileflow.best('a.yaml', seed=7)\nn: int = len(r.rows())\n"
                            "f = tileflow.compile({'workload': {}}, dtype='bf16')\nf(1, out=None)\ntileflow.emit('a.yaml')\n")
            done = subprocess.run(["mypy", "--no-incremental", "--python-executable", sys.executable, str(path)], cwd=STUB.parents[1],
                                  stdout=subprocess.PIPE, encoding="utf-8")
            self.assertEqual(done.stdout.count("error:"), 1, done.stdout)
            self.assertIn('use.py:6: error: Missing named argument "out" for "emit"', done.stdout)


if __name__ == "__main__":
    unittest.main()
