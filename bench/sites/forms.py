"""Forms of URLs as programs: parts to write them from columns, and patterns to read them with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from bench.sites.fields import VISIT, Noise, joined
from bench.sites.model import Extra

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from bench.sites.fields import Digits, Field
    from bench.sites.model import Family, Form, Kind

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Combination:
    """A form with what visitors add to it, ready to be written."""

    form: Form
    fields: Mapping[str, Field]
    template: str
    """All of the URL but the domain, which stands for `{SITE}`."""
    weight: float

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Texts and names of fields in turn, a text first."""
        return tuple(_FIELD.split(self.template))

    @cached_property
    def digits(self) -> frozenset[str]:
        """The digits that it tells."""
        names = (name for name in self.parts[1::2] if name != "SITE")
        return frozenset().union(*(digits_told(self.fields[name]) for name in names))

    @cached_property
    def is_noisy(self) -> bool:
        """Every sighting has another URL."""
        return any(isinstance(self.fields.get(name), Noise) for name in self.parts[1::2])

    def write(self, digits: Digits, site: str, seed: int) -> pa.Array:
        """Return the URL for each row of digits."""
        return self.joined({name: self.fields[name].write(digits, seed) for name in self.names}, site)

    @cached_property
    def names(self) -> frozenset[str]:
        """The fields that it has."""
        return frozenset(self.parts[1::2]) - {"SITE"}

    def joined(self, columns: Mapping[str, pa.Array], site: str) -> pa.Array:
        """Return the URL for each row of written fields."""
        texts: list[str | pa.Array] = []
        for place, part in enumerate(self.parts):
            piece = part if place % 2 == 0 else site if part == "SITE" else columns[part]
            if isinstance(piece, str) and texts and isinstance(texts[-1], str):
                texts[-1] += piece
            elif not isinstance(piece, str) or piece:
                texts.append(piece)
        return joined(*texts)


def combinations(kind: Kind, family: Family) -> tuple[Combination, ...]:
    """Return all ways to write the URLs of a family, plain forms first."""
    fields = {**VISIT, **family.fields}
    label = family.host or kind.label
    extras = [
        Extra(weight=1.0),
        *(extra for extra in kind.extras if extra.host is None or family.host is None),
    ]
    return tuple(
        Combination(form, fields, _template(form, extra, label), form.weight * extra.weight)
        for extra in extras
        for form in family.forms
        if not (extra.path == "/" and form.template.partition("?")[0].endswith("/"))
    )


def _template(form: Form, extra: Extra, label: str) -> str:
    path, _, query = form.template.partition("?")
    label = label if extra.host is None else extra.host
    queries = [extra.query, query] if extra.is_first else [query, extra.query]
    whole = "&".join(each for each in queries if each)
    return f"http://{label}{'.' if label else ''}{{SITE}}{path}{extra.path}{'?' if whole else ''}{whole}"


class Match(NamedTuple):
    """What a form read in a URL."""

    form: Form
    digits: dict[str, int]


class Reader:
    """Reads the URLs of one form."""

    def __init__(self, form: Form, family: Family, seed: int) -> None:
        path, _, query = form.template.partition("?")
        self.form, self._seed = form, seed
        self._fields = {**VISIT, **family.fields}
        self._path = self._pattern(path)
        pairs = [pair.partition("=") for pair in query.split("&") if pair]
        self._query = {name: self._pattern(value) for name, _, value in pairs}
        defaults = {
            name for name in family.small if any(name not in _told(each, family) for each in family.forms)
        }
        self._optional = {
            name
            for name, _, value in pairs
            if (field := _FIELD.fullmatch(value)) and self._fields[field[1]].digit in defaults | {None}
        }
        """Parameters that stand for a default where they are missing or cannot be read."""
        literals = len(_FIELD.sub("", path))
        self.exactness = (len(self._query) - len(self._optional), literals, len(self._optional))
        """Readers that ask for more are tried first."""

    def _pattern(self, template: str) -> re.Pattern[str]:
        parts = _FIELD.split(template)
        return re.compile(
            "".join(
                re.escape(part) if place % 2 == 0 else f"(?P<{part}>{self._fields[part].pattern})"
                for place, part in enumerate(parts)
            )
        )

    def read(self, path: str, parameters: Mapping[str, str]) -> Match | None:
        """Return the digits that a URL tells, or None if it is not of this form."""
        found = self._path.fullmatch(path)
        if found is None:
            return None
        texts = found.groupdict()
        for name, pattern in self._query.items():
            found = pattern.fullmatch(parameters[name]) if name in parameters else None
            if found is not None:
                texts |= found.groupdict()
            elif name not in self._optional:
                return None
        digits: dict[str, int] = {}
        for name, text in texts.items():
            told = self._digits(self._fields[name], text)
            if told is None or any(digits.setdefault(digit, value) != value for digit, value in told.items()):
                return None
        return Match(self.form, digits)

    def _digits(self, field: Field, text: str) -> dict[str, int] | None:
        if field.digit is None:
            return {}
        read = field.read(text, self._seed)
        if read is None:
            return None
        return (
            {field.digit: read} if isinstance(field.digit, str) else dict(zip(field.digit, read, strict=True))
        )


def _told(form: Form, family: Family) -> set[str]:
    digits: set[str] = set()
    for name in _FIELD.findall(form.template):
        digits |= digits_told({**VISIT, **family.fields}[name])
    return digits


def digits_told(field: Field) -> set[str]:
    """Return the digits that a field tells."""
    if field.digit is None:
        return set()
    return {field.digit} if isinstance(field.digit, str) else set(field.digit)
