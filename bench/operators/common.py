"""What the programs of this folder share: the cases, and a lock."""
import contextlib
import fcntl
import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def cases():
    """Kind, name and params of each case of workloads/operators/cases.csv but the small ones, which are for tests."""
    with open(ROOT / "workloads/operators/cases.csv", encoding="utf-8") as f:
        for line in f:
            kind, name, params = (line.rstrip("\n").split(",") + ["", ""])[:3]
            if not line.startswith("#") and name != "small":
                yield kind, name, dict((k, int(v)) for k, v in (p.split("=") for p in params.split()))


def what_of(arch, kind, params):
    """The arguments of tileflow that name a case."""
    return [arch, ROOT / f"workloads/operators/{kind}.yaml", *(x for k, v in params.items() for x in ("--set", f"{k}={v}"))]


@contextlib.contextmanager
def alone(lock):
    """While the computer is this run's; lock None: of itself.  A run that was begun with nice, by one who may, is nice no more."""
    if not lock:
        yield
        return
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    with open(lock, "w", encoding="ascii") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        try:
            yield
        finally:
            os.setpriority(os.PRIO_PROCESS, 0, nice)
