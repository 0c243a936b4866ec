"""Types of the package, for editors and checkers; docs/HOWTO-python.md has the words."""
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Input = str | os.PathLike[str] | Mapping[str, Any] | Result

__version__: str
__all__: list[str]

class Diagnostic:
    severity: str
    code: str | None
    file: str
    line: int | None
    column: int | None
    message: str
    text: str

class Error(Exception):
    status: int
    diagnostics: Sequence[Diagnostic]
    def __init__(self, text: str, status: int = 2) -> None: ...

class Interrupted(KeyboardInterrupt):
    best: Result | None
    def __init__(self, best: Result | None = None) -> None: ...

class NotFound(ImportError): ...

class Result(dict[str, Any]):
    messages: str
    def __getattr__(self, key: str) -> Any: ...
    def rows(self) -> list[dict[str, Any]]: ...
    def frame(self) -> Any: ...
    def summary(self) -> dict[str, Any]: ...
    def tree(self) -> Tree: ...

class Tree(Result):
    svg: str

class Kernel:
    path: str
    manifest: dict[str, Any]
    messages: str

class Function:
    path: str
    manifest: dict[str, Any]
    inputs: dict[str, tuple[int, ...]]
    outputs: dict[str, tuple[int, ...]]
    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any: ...

class Loop(NamedTuple):
    dim: str
    trip: int
    axis: str | None
    line: int

class Figures(NamedTuple):
    cycles: float
    seconds: float
    energy_pj: float
    points: int
    compute_utilization: float
    bottleneck: str
    feasible: bool
    skipped: int
    leakage_pj: float
    @property
    def edp(self) -> float: ...

class Model:
    loops: list[Loop]
    def __init__(self, *inputs: Input, architecture: Input | None = None, workload: Input | None = None, mapping: Input | None = None,
                 set: Mapping[str, Any] | None = None) -> None: ...
    def check(self, trips: Sequence[int]) -> None: ...
    def eval(self, trips: Sequence[int] | None = None, check: bool = True) -> Figures: ...
    def text(self, trips: Sequence[int] | None = None) -> str: ...

def eval(*inputs: Input, **options: Any) -> Result: ...
def best(*inputs: Input, **options: Any) -> Result: ...
def solve(*inputs: Input, **options: Any) -> Result: ...
def search(*inputs: Input, **options: Any) -> Result: ...
def bound(*inputs: Input, **options: Any) -> Result: ...
def tree(*inputs: Input, **options: Any) -> Tree: ...
def check(*inputs: Input, **options: Any) -> list[str]: ...
def emit(*inputs: Input, out: str | os.PathLike[str], **options: Any) -> Kernel: ...
def compile(*inputs: Input, out: str | os.PathLike[str] | None = None, cc: str | None = None, **options: Any) -> Function: ...
def from_torch(module: Any, *example: Any, **named: Any) -> str: ...
def sweep(*inputs: Input, store: str | os.PathLike[str], **options: Any) -> Result: ...
def results(store: str | os.PathLike[str], *others: str | os.PathLike[str], **options: Any) -> Result: ...
def run(command: str, *inputs: Input, **options: Any) -> Any: ...
def frame(results: Sequence[Result]) -> Any: ...
