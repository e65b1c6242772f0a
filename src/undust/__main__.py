"""`undust` and `python -m undust`: the help at once, all else by `undust.cli`.

Ctrl-C ends the command in one line with exit code 130 whenever it comes. While the command is loaded, and
after it is done, there is nothing to undo: `_end` ends the process at once. A `KeyboardInterrupt` there
would end in a traceback, or would be swallowed by whatever is being imported. `undust.cli` lets
Ctrl-C raise while a command runs.
"""

import _signal  # type: ignore[import-not-found]  # built in; `signal` takes longer to load than the help
import os
import sys

FULL_WIDTH = 80
_INTERRUPTED = 128 + _signal.SIGINT


class WithoutPandas:
    """Makes pandas look as if it were not installed.

    Where it is, pyarrow loads it for the first array that it makes of a list, which takes longer than most
    commands. Processes that the command starts import this file too, and have its arguments.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Find no pandas; the rest is found by others."""
        if name == "pandas":
            message = "no command of undust uses it"
            raise ModuleNotFoundError(message, name=name)


if not any("spark" in word for word in sys.argv):  # which may want it
    sys.meta_path.insert(0, WithoutPandas)


def main() -> None:
    """Run the command."""
    # The parent process may want Ctrl-C to be ignored, as nohup and shell scripts do.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)
    if sys.argv[1:] in (["--help"], ["-h"]) and _has_full_width() and _show_help():
        return
    from undust.cli import main as run  # noqa: PLC0415 -- takes longer than the help

    run(prog_name="undust")


def _end(*_: object) -> None:
    """End at once, in one line."""
    try:
        os.write(2, b"undust: stopped by Ctrl-C; what was not complete was not written\n")
    finally:
        os._exit(_INTERRUPTED)


def _has_full_width() -> bool:
    """Whether the lines of the help need no folding, and no shell asks for completions."""
    if "COLUMNS" in os.environ or "_UNDUST_COMPLETE" in os.environ:
        return False
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns >= FULL_WIDTH
    except (OSError, ValueError, AttributeError):
        return True


def _show_help() -> bool:
    """Write the help; False if that failed, which `undust.cli` then explains."""
    from undust.help import help_text  # noqa: PLC0415 -- for those who ask

    try:
        sys.stdout.write(help_text())
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        return False
    return True


if __name__ == "__main__":
    main()
