"""Everything undust can complain about, in one tree.

    UndustError
    ├─ SourceError            the input cannot be read
    │  ├─ UnknownFormat         nothing here can read such a file
    │  └─ DamagedSource         file, offset, how to repair or skip
    ├─ RuleError              the rules are wrong
    │  ├─ InvalidRule           file:line, the part, the fix
    │  └─ UnknownVersion        written by another undust than this one
    ├─ WrongUsage             what was asked for does not fit what is there
    ├─ CannotExpress          the export target cannot say this rule; which, why
    ├─ MissingExtra           (also ImportError) pip install 'undust[spark]'
    └─ RefusedStart           (also SystemExit) a crawl that could not go well does not start

A message is one sentence of three parts: what is wrong, where, and how to fix it. The command
prints it unchanged. A URL that does not parse is not an error: it passes unchanged and is counted.
"""

import errno

from undust.display import printable

MENDS = {
    errno.EACCES: "you may not use it; see who may with 'ls -l'",
    errno.EDQUOT: "your disk quota is used up; free some space and start again",
    errno.EFBIG: "it grew beyond the size allowed for a file; raise the limit with 'ulimit -f'",
    errno.EIO: "the device failed; check the disk and its cable",
    errno.EISDIR: "it is a folder; name a file in it",
    errno.ENOENT: "there is no such file; check the name",
    errno.ENOSPC: "the disk is full; free some space and start again",
    errno.ENOTDIR: "a folder on its path is a file; check the name",
    errno.EPERM: "you may not use it; see who may with 'ls -l'",
    errno.EROFS: "the disk is read-only; write to another one",
}
"""What to do about a file that the system refuses."""


class UndustError(Exception):
    """A problem that has a name; the root of all that undust raises on purpose.

    >>> import undust
    >>> try:
    ...     undust.Rule.parse("forget everything", site="shop.test")
    ... except undust.UndustError as error:
    ...     print(error)
    the kind 'forget' is not known; write replace, rewrite or keep
    """

    def __str__(self) -> str:
        """Return the sentence, on one line: what it quotes may have been written to harm a terminal."""
        return printable(super().__str__())


class SourceError(UndustError):
    """The input cannot be read."""


class UnknownFormat(SourceError):  # noqa: N818 -- names of the tree say what is wrong
    """No source of undust reads such a file."""


class DamagedSource(SourceError):  # noqa: N818
    """The file is cut off or broken; the message says at which byte and how to go on."""


class RuleError(UndustError):
    """The rules are wrong."""


class InvalidRule(RuleError):  # noqa: N818
    """A rule breaks the language; the message says which part, and the fix."""


class UnknownVersion(RuleError):  # noqa: N818
    """The rule file has a version that this undust does not know."""


class WrongUsage(UndustError):  # noqa: N818
    """What was asked for does not fit the input; the command ends as it does for a wrong option."""


class CannotExpress(UndustError):  # noqa: N818
    """The target of an export has no way to say a rule."""


class MissingExtra(UndustError, ImportError):  # noqa: N818
    """A package that comes with an extra is not installed."""


class RefusedStart(UndustError, SystemExit):  # noqa: N818
    """A crawl is not started, for its rules or settings are wrong.

    Scrapy ends with a traceback at every error but this kind, whose sentence is all that a person reads.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.code = f"undust: {sentence}"


def file_sentence(error: OSError) -> str:
    """Return which file failed, why, and what to do."""
    reason = error.strerror or str(error) or type(error).__name__
    mend = MENDS.get(error.errno or 0, f"{reason.lower()}; check it and start again")
    return f"{error.filename}: {mend}" if error.filename else mend
