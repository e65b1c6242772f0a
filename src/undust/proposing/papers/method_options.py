"""The options of learners as people write them (`substring.max_bucket=6`), and the bounds of the machine.

Each learner states its options as a frozen dataclass whose defaults are the published values; a text from the
command line becomes the type of the field, or one sentence reports what is wrong with it.

A learner that can keep to bounds has a class method `within` in its options: what they are then, where the
user does not set them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Mapping


Options = TypeVar("Options")

_WORDS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


def options_from(
    kind: type[Options], learner: str, said: Mapping[str, object], resources: Resources | None = None
) -> Options:
    """Return the options of a learner; those of others are left to them."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    chosen: dict[str, Any] = {}
    within = getattr(kind, "within", None)
    if resources is not None and within is not None:
        chosen |= within(resources)
    for name, value in said.items():
        owner, _, option = name.partition(".")
        if owner != learner:
            continue
        if option not in known:
            message = f"{learner} has no option '{option}'; it has {', '.join(sorted(known))}"
            raise UndustError(message)
        chosen[option] = _converted(value, known[option].default, name)
    return kind(**chosen)


def _converted(value: object, default: object, name: str) -> object:
    if not isinstance(value, str) or isinstance(default, str):
        return value
    try:
        if isinstance(default, bool):
            return _WORDS[value.lower()]
        return type(default)(value)  # type: ignore[call-arg]  # int or float
    except (KeyError, ValueError):
        wanted = {bool: "yes or no", int: "a whole number", float: "a number"}[type(default)]
        message = f"the option {name}={value} should be {wanted}"
        raise UndustError(message) from None


@dataclass(frozen=True)
class Resources:
    """Bounds that a person set for the whole program, passed to the learners that can keep them."""

    memory: int | None = None
    """Bytes for all that the program holds; None without a limit."""
    threads: int = 1
    folder: str | None = None
    """For temporary files; None for that of the system."""
