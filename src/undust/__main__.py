"""`undust` and `python -m undust`: the help at once, all else by `undust.cli`."""

import os
import sys

FULL_WIDTH = 80


def main() -> None:
    """Run the command."""
    if sys.argv[1:] in (["--help"], ["-h"]) and _has_full_width() and _show_help():
        return
    import signal  # noqa: PLC0415 -- takes longer than the help

    # While the command is loaded, Ctrl-C ends it without telling in which import it was.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from undust.cli import main as run  # noqa: PLC0415

    signal.signal(signal.SIGINT, before)
    run(prog_name="undust")


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
