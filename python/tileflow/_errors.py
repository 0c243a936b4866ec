"""What the tool says on stderr, as exceptions and diagnostics."""
import dataclasses
import re
import typing

_HEAD = re.compile(
    r"(?P<file>\S.*?)(?::(?P<line>\d+):(?P<column>\d+))?: "
    r"(?:error\[(?P<code>E_\w+)\]|(?P<other>note|warning)): (?P<message>.*)")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One message.  A note belongs to the error before it.  line and column count from 1; None: no place in a file."""
    severity: str  # "error", "note", "warning"
    code: typing.Optional[str]  # "E_KEY", ...; of errors
    file: str  # as given; "<architecture>" of a text or dict
    line: typing.Optional[int]
    column: typing.Optional[int]
    message: str
    text: str  # as printed: with the source line and the caret


def diagnostics(text):
    """The diagnostics of what the tool printed, in its order."""
    blocks = []
    for line in text.splitlines():
        head = _HEAD.fullmatch(line)
        if head:
            blocks.append((head, [line]))
        elif blocks:
            blocks[-1][1].append(line)
    number = lambda digits: int(digits) if digits else None
    return [Diagnostic(h["other"] or "error", h["code"], h["file"], number(h["line"]), number(h["column"]),
                       h["message"], "\n".join(lines)) for h, lines in blocks]


class Error(Exception):
    """Input is wrong, nothing fits, or the tool failed.  str() is what the tool printed."""

    def __init__(self, text, status=2):
        super().__init__(text.rstrip("\n") or f"tileflow: exit status {status}")
        self.status = status  # of the tool: 1 it failed, 2 bad input, 3 nothing fits
        self.diagnostics = diagnostics(text)

    def __reduce__(self):
        return type(self), (str(self), self.status)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; best: what was found until then, None if nothing was."""

    def __init__(self, best=None):
        super().__init__("interrupted" + (", .best is what was found" if best else ""))
        self.best = best
