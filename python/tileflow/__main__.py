"""The command of a terminal: `python -m tileflow`, and the script `tileflow` that a wheel installs."""
import os
import sys

from ._find import executable


def main():
    tool = executable()
    os.execv(tool, ["tileflow", *sys.argv[1:]])


if __name__ == "__main__":
    main()
