"""The `linsep` program, as `python -m linsep` and as the command that the package installs."""

from __future__ import annotations

import sys

from linsep import _engine


def main() -> int:
    """Runs the program with the arguments of this process, and returns its exit code."""
    return _engine.main(["linsep", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
