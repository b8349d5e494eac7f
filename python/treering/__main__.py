"""The command line: `python -m treering ...` and the script `treering`."""

import os
import sys

from treering import _native


def main() -> int:
    """Runs the command line and gives its exit code."""
    again = [sys.executable, "-m", "treering"]
    return _native.main(["treering", *map(os.fspath, sys.argv[1:])], again)


if __name__ == "__main__":
    sys.exit(main())
