"""How far long work is, for people: a line on standard error that rewrites itself, on terminals and in notebooks."""

import sys
import time
from typing import Optional

WIDTH = 30
# Short work says nothing.
QUIET_SECONDS = 0.5


def is_shown(wanted: Optional[bool]) -> bool:
    """Whether to show progress.

    wanted: True or False; None decides by where standard error goes.
    """
    if sys.stderr is None:
        return False
    if wanted is None:
        try:
            terminal = getattr(sys.stderr, "isatty", lambda: False)()
        except ValueError:  # it is closed
            return False
        return terminal or "ipykernel" in sys.modules
    return wanted


def painter(wanted: Optional[bool]) -> "Optional[Painter]":
    """What shows progress; None where it is not to be shown."""
    return Painter() if is_shown(wanted) else None


class Painter:
    """Called now and then by the native code with the state of the work."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        if not what or time.monotonic() - self._began < QUIET_SECONDS:
            return
        line = what + " ..."
        if total > 0:
            share = min(done / total, 1.0)
            line = f"{what:28} [{'#' * int(share * WIDTH):{WIDTH}}] {share:4.0%}"
        if line != self._shown:
            self._write("\r" + line.ljust(len(self._shown)))
            self._shown = line

    def close(self) -> None:
        """Takes the line away."""
        if self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            # Work goes on whether or not anybody can watch.
            pass
