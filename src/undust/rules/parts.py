"""A folder of rules: rule files in parts, sorted by site, of which a reader takes those that it needs.

    rules/index.json                               which part has which sites
    rules/0f3a….json, rules/91bc….json             each a whole rule file, named after its content

A site is never cut in two; rules for all sites are a part of their own. The index is written last, and parts
that only an older index names are removed then: who is interrupted leaves the rules as they were. The order
of the rules of a site is kept, and no other order counts: a site's own rules come first, then those for all.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.errors import InvalidRule, RuleError, UnknownVersion
from undust.files.streams import open_output, read_whole
from undust.rules import files
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

INDEX = "index.json"
PART_RULES = 10_000
"""Rules of a part, more or less: a site is not cut."""
_FORMAT, _VERSION = "undust-rule-parts", 1
_NAME = re.compile(r"[0-9a-f]{32}\.json")
_FIX = "get the folder again, or write it again with -o"


class Part(NamedTuple):
    """One file of a folder."""

    file: str
    first: str
    last: str
    rules: int


def is_folder(path: str) -> bool:
    """Return whether a path means a folder of rules: there is one, or the name ends with a slash."""
    return path.endswith("/") or Path(path, INDEX).is_file()


def readable(path: str) -> str:
    """Return the file that shows whether rules can be read."""
    return str(Path(path, INDEX)) if is_folder(path) else path


def site_key(site: str) -> str:
    """Return the name by which sites are sorted and looked up."""
    return site.lower()


def write(folder: str, header: Mapping[str, Any], rules: Iterable[Mapping[str, Any]]) -> None:
    """Write rules that come sorted by site, in memory that does not grow with their number."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        message = f"{folder}: is a file, and rules in parts are a folder; name another"
        raise RuleError(message)
    place.mkdir(exist_ok=True)
    before = {part.file for part in _index(folder)[1]} if (place / INDEX).is_file() else set()
    parts = [_written(place, header, some) for some in _cut(rules)]
    told = {"format": _FORMAT, "version": _VERSION, "header": dict(header)}
    told["parts"] = [part._asdict() for part in parts]
    with open_output(str(place / INDEX)) as output:
        output.write(json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")
    for name in before - {part.file for part in parts}:
        with suppress(OSError):  # what stays is in no index, and does no harm
            (place / name).unlink()


def _cut(rules: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    held: list[Mapping[str, Any]] = []
    for site, own in groupby(rules, lambda rule: site_key(rule["site"])):
        some = list(own)
        if held and (len(held) + len(some) > PART_RULES or site == ANY_SITE):
            yield held
            held = []
        held += some
    if held:
        yield held


def _written(place: Path, header: Mapping[str, Any], rules: list[Mapping[str, Any]]) -> Part:
    data = files.written(header, iter(rules))
    name = f"{hashlib.blake2b(data, digest_size=16).hexdigest()}.json"
    with open_output(str(place / name)) as output:
        output.write(data)
    return Part(name, site_key(rules[0]["site"]), site_key(rules[-1]["site"]), len(rules))


def parts_of(folder: str, sites: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the text of each part, or of those with rules of some sites or of all sites."""
    wanted = None if sites is None else sorted(set(map(site_key, sites)))
    for part in _index(folder)[1]:
        if wanted is not None and part.first != ANY_SITE and not _is_between(wanted, part):
            continue
        path = str(Path(folder, part.file))
        data = read_whole(path, files.MOST_FILE_BYTES)
        if hashlib.blake2b(data, digest_size=16).hexdigest() != part.file.partition(".")[0]:
            message = f"{path}: its content is not what its name says, so it was damaged or changed; {_FIX}"
            raise InvalidRule(message)
        yield path, data


def _is_between(names: list[str], part: Part) -> bool:
    place = bisect_left(names, part.first)
    return place < len(names) and names[place] <= part.last


def header_of(folder: str) -> dict[str, Any]:
    """Return what the rule files hold beside their rules."""
    return _index(folder)[0]


def _index(folder: str) -> tuple[dict[str, Any], list[Part]]:
    path = str(Path(folder, INDEX))
    data = read_whole(path, files.MOST_FILE_BYTES)
    try:
        found = _sound(json.loads(data), path)
    except (ValueError, KeyError, TypeError, RecursionError):
        found = None
    if found is None:
        message = f"{path}: not the index of a folder of rules; {_FIX}"
        raise InvalidRule(message)
    return found


def _sound(content: Any, path: str) -> tuple[dict[str, Any], list[Part]] | None:  # noqa: ANN401 -- any JSON
    """Return what an index says; None if it cannot be one."""
    if content["format"] != _FORMAT:
        return None
    if content["version"] != _VERSION:
        shown = json.dumps(content["version"])
        message = f"{path}: version {shown}, and this undust reads {_VERSION}; update undust"
        raise UnknownVersion(message)
    found = [Part(**part) for part in content["parts"]]
    names = [name for part in found if part.first != ANY_SITE for name in (part.first, part.last)]
    is_sound = all(_NAME.fullmatch(part.file) for part in found) and names == sorted(names)
    return (dict(content["header"]), found) if is_sound else None
