"""from_einsum(): products as numpy's einsum has them, as a workload."""
import json
import re


def _shape(operand):
    shape = tuple(getattr(operand, "shape", operand))
    if not all(isinstance(n, int) or hasattr(n, "__index__") for n in shape):
        raise ValueError(f"an operand is a shape, or has one: not {operand!r}")
    return tuple(int(n) for n in shape)


def _parts(text):
    """Operands and result of one einsum, each as its letters; without '->' the result has the letters that stand once, in order."""
    left, arrow, right = re.sub(r"\s", "", text).partition("->")
    operands = left.split(",")
    if not re.fullmatch(r"[A-Za-z,]*", left) or not all(operands) or not re.fullmatch(r"[A-Za-z]*", right):
        raise ValueError(f"{text!r}: letters, with commas between operands and '->' before the result; '...' is not known")
    if not arrow:
        right = "".join(sorted(x for x in set(left) - {","} if left.count(x) == 1))
    for letter in right:
        if right.count(letter) > 1 or letter not in left:
            raise ValueError(f"{text!r}: {letter!r} " + ("stands twice in the result" if letter in left else "stands in no operand"))
    return operands, right


class _Workload:
    def __init__(self):
        self.extents, self.given, self.ops = {}, {}, []  # given: of which operand an extent is

    def read(self, name, letters, shape, text):
        if len(letters) != len(shape):
            raise ValueError(f"{text!r}: {name} has {len(shape)} ranks, {letters!r} is {len(letters)}")
        for letter, extent in zip(letters, shape):
            if self.extents.setdefault(letter, extent) != extent:
                raise ValueError(f"{text!r}: {letter!r} is {extent} in {name}, {self.extents[letter]} in {self.given[letter]}")
            self.given.setdefault(letter, name)
        return f"{name}[{', '.join(letters)}]"

    def add(self, out, text, named):
        """One einsum: `named` are its operands, each a name and a shape.  Returns the shape of `out`."""
        operands, right = _parts(text)
        if len(operands) != len(named):
            raise ValueError(f"{text!r} has {len(operands)} operands, {len(named)} are given")
        reads = [self.read(name, letters, shape, text) for letters, (name, shape) in zip(operands, named)]
        summed = set("".join(operands)) - set(right)
        self.ops.append(f"{out}[{', '.join(right)}] {'+=' if summed else '='} {' * '.join(reads)}")
        return tuple(self.extents[x] for x in right)


def workload(einsums, operands, names, out, then, title):
    """The YAML.  Of several einsums each goes on from the result of the one before."""
    steps = [einsums] if isinstance(einsums, str) else list(einsums)
    shapes = [_shape(x) for x in operands]
    wanted = sum(len(_parts(s)[0]) for s in steps) - (len(steps) - 1)
    if not steps or wanted != len(shapes):
        raise ValueError(f"{steps!r} takes {wanted} operands, {len(shapes)} are given")
    names = list(names) if names is not None else _names(len(shapes))
    if len(names) != len(shapes):
        raise ValueError(f"{len(names)} names for {len(shapes)} operands")
    rest, work, last = list(zip(names, shapes)), _Workload(), None
    for number, step in enumerate(steps, 1):
        takes = len(_parts(step)[0]) - (last is not None)
        now, rest = ([last] if last else []) + rest[:takes], rest[takes:]
        made = out if number == len(steps) and not then else f"{out}_{number}"
        last = (made, work.add(made, step, now))
    if then:
        index = ", ".join(_parts(steps[-1])[1])
        work.ops.append(f"{out}[{index}] = {then}({last[0]}[{index}])")
    return "\n".join(["workload:", f"  name: {json.dumps(title)}",
                      "  dims: {" + ", ".join(f"{d}: {n}" for d, n in work.extents.items()) + "}", "  ops:",
                      *(f"  - {json.dumps(op)}" for op in work.ops), ""])


def _names(n):
    return [chr(ord("A") + i) for i in range(n)] if n <= 14 else [f"A_{i}" for i in range(n)]
