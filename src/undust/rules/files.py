"""Rule files: JSON with a format, a version and a list of rules; and folders of them.

    {"format": "undust-rules", "version": 1, "rules": […]}

A file with a rule that has `fetch`, `needs` or the status `proposed` has version 2: undust 0.1, which would
apply such a rule like any other, refuses it. Every other file has version 1.

Each field of a rule is on a line of its own, so that a review sees what changed. Keys that undust does not
know, in a rule or beside the list, are kept. Errors name the file, the line and the fix; lines are looked up
only then. A file as undust writes it goes to the core as it is: its objects are made when its rules are
looked at, so that it loads in about the time of a JSON parser.

A folder holds the rules in parts, sorted by site. A reader opens only the parts with the sites it needs:

    rules/index.json                               which part has which sites
    rules/0f3a….json, rules/91bc….json             each a whole rule file, named after its content

The rules of a site are all in one part; rules for all sites have a part of their own. The index is written
last, and then parts that only the older index names are removed: an interrupted job leaves the old rules. The
order of the rules of a site is kept. No other order matters: a site's own rules come first, then those for
all.
"""

from __future__ import annotations

import gc
import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import groupby
from json.encoder import encode_basestring
from math import isinf
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from undust._core import plain_rule_file
from undust.errors import InvalidRule, RuleError, UnknownVersion
from undust.files.streams import open_output, read_whole
from undust.rules.language import ANY_SITE, Problem
from undust.urls.url import suffixes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from undust._core import Program

_FORMAT = "undust-rules"
VERSION, _VERSION_OF_USES = 1, 2
MOST_FILE_BYTES = 512 << 20
"""What a rule file may hold, unpacked: a small file of a stranger must not fill the memory."""
MOST_RULES = 1_000_000
EMPTY_HEADER: dict[str, Any] = {"format": _FORMAT, "version": VERSION}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


class UnreadRules(Sequence[dict[str, Any]]):
    """The rules of a sound file as JSON objects, made when the first one is asked for."""

    def __init__(self, data: bytes, count: int) -> None:
        self._data = data
        self._count = count

    @cached_property
    def _rules(self) -> list[dict[str, Any]]:
        with _no_garbage():
            return list(json.loads(self._data)["rules"])

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rules)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 -- a rule or a list of them
        return self._rules[place]


def read_plain(data: bytes, name: str) -> tuple[dict[str, Any], UnreadRules, Program] | None:
    """Return the header, the rules and the program of a file as undust writes it; None for any other."""
    if not data.isascii():
        _decoded(data, name)
    if (found := plain_rule_file(data, suffixes(), MOST_RULES)) is None:
        return None
    program, start, end, is_limited = found
    header, _ = _parsed((data[:start] + b"[]" + data[end:]).decode(), name)
    if is_limited and header["version"] == VERSION:
        return None
    return header | {"version": VERSION}, UnreadRules(data, len(program)), program


def read(data: bytes, name: str) -> tuple[dict[str, Any], int, list[dict[str, Any]]]:
    """Return the header of a rule file, its version, and its rules; `name` is for messages."""
    with _no_garbage():
        header, rules = _parsed(_decoded(data, name), name)
        try:
            require_unique(rules)
        except Problem as problem:
            raise located(problem, name, data) from None
    # The version of a file follows from its rules; what is held in memory has one header for all.
    version = header["version"]
    return header | {"version": VERSION}, version, rules


def limits_use(rule: Mapping[str, Any]) -> str | None:
    """Return the field, if any, by which a rule is not simply applied and takes version 2 of the format."""
    if rule.get("fetch") is False:
        return "fetch"
    if rule.get("needs"):
        return "needs"
    return "status" if rule.get("status") == "proposed" else None


def require_version(version: int, rules: Sequence[Mapping[str, Any]]) -> None:
    """Raise a `Problem` if a file of version 1 has a rule that readers of version 1 would apply wrongly."""
    if version == _VERSION_OF_USES:
        return
    for number, rule in enumerate(rules, 1):
        if (field := limits_use(rule)) is not None:
            message = f'takes version {_VERSION_OF_USES} of the format; write "version": {_VERSION_OF_USES}'
            raise Problem(message, field, number=number)


def _parsed(text: str, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    try:
        content = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidRule(_json_problem(error, text, name)) from None
    return _checked(content, name)


@contextmanager
def _no_garbage() -> Iterator[None]:
    # Python looks for cycles again and again among a million new objects that can have none.
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{name}:{line}: byte {error.start} is not UTF-8; save the file as UTF-8"
        raise InvalidRule(message) from None


def _refuse_constant(word: str) -> NoReturn:
    message = f"{word} is not a JSON number"
    raise ValueError(message)


def _finite(word: str) -> float:
    number = float(word)
    if isinf(number):  # nothing could write it again
        message = f"{word} is beyond the numbers that are counted with"
        raise ValueError(message)
    return number


def _json_problem(error: Exception, text: str, name: str) -> str:
    if isinstance(error, json.JSONDecodeError):
        what = error.msg[:1].lower() + error.msg[1:]
        return f"{name}:{error.lineno}: not JSON, column {error.colno}: {what}; correct it there"
    if isinstance(error, RecursionError):
        return f"{name}: nested too deeply for a rule file; give the file that undust wrote"
    line = text.count("\n", 0, max(text.find(str(error).split()[0]), 0)) + 1
    return f"{name}:{line}: {error}; leave the field out if the number is unknown"


def _checked(content: Any, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:  # noqa: ANN401
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        start = f'{{"format": "{_FORMAT}", "version": {VERSION}, "rules": ['
        message = f"{name}: not a rule file; one starts with {start}"
        raise InvalidRule(message)
    version = content.get("version")
    if version not in (VERSION, _VERSION_OF_USES) or isinstance(version, bool):
        shown = "no version" if version is None else f"version {json.dumps(version)}"
        known = f"versions {VERSION} and {_VERSION_OF_USES}"
        message = f"{name}: {shown} of the rule format, and this undust reads {known}; update undust"
        raise UnknownVersion(message)
    rules = content.pop("rules", None)
    if not isinstance(rules, list):
        message = f'{name}: no list of rules; add "rules": []'
        raise InvalidRule(message)
    if len(rules) > MOST_RULES:
        message = f"{name}: {len(rules):,} rules, and a file has at most {MOST_RULES:,}; split it by site"
        raise InvalidRule(message)
    return content, rules


def require_unique(rules: Sequence[Mapping[str, Any]]) -> None:
    """Raise a `Problem` if two rules are equal, and so would have one id."""
    # Most files differ early, and a file of 100,000 rules should load at once.
    for few in (itemgetter("from"), itemgetter("site", "from")):
        try:
            if len(set(map(few, rules))) == len(rules):
                return
        except (KeyError, TypeError):
            break  # something is wrong, and it will be reported
    seen: dict[tuple[Any, ...], int] = {}
    for number, rule in enumerate(rules, 1):
        try:
            before = seen.setdefault(said_by(rule), number)
        except (AttributeError, TypeError):
            continue  # not even an object, or no texts: the core reports what is wrong with it
        if before != number:
            message = f"says the same as rule {before}, so both have one id; remove one of them"
            raise Problem(message, number=number)


def said_by(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the fields that the id of a rule is made from."""
    get = rule.get
    lists = (tuple(get(name) or ()) for name in ("when", "unless"))
    return (get("site"), get("kind"), get("from"), get("to"), *lists)


def located(problem: Problem, name: str, data: bytes | None = None) -> InvalidRule:
    """Return a problem with the file, and the line if there is the text to look it up."""
    line = None
    if data is not None:
        from undust.files.arrays import line_of_member  # noqa: PLC0415 -- only faults need it

        line = line_of_member(_decoded(data, name), "rules", problem.number or 1, problem.field)
    place = name if line is None else f"{name}:{line}"
    return InvalidRule(f"{place}: {problem}")


def written(header: Mapping[str, Any], rules: Iterator[Mapping[str, Any]]) -> bytes:
    """Return the bytes of a rule file; the same rules give the same bytes."""
    every = list(rules)
    return b"".join(written_pieces(header_of_rules(header, every), every))


def header_of_rules(header: Mapping[str, Any], rules: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the header of a file of these rules: with the version that they take."""
    is_limited = any(limits_use(rule) for rule in rules)
    return dict(header) | ({"version": _VERSION_OF_USES} if is_limited else {})


def written_pieces(header: Mapping[str, Any], rules: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the bytes of a rule file, rule by rule."""
    head = "".join(f"  {_json(key)}: {_json(value)},\n" for key, value in header.items())
    before, end = "{\n" + head + '  "rules": [', "]\n}\n"
    for rule in rules:
        # JSON may hold half of a surrogate pair, which UTF-8 cannot; its escape means the same.
        yield f"{before}\n{_written_rule(rule)}".encode("utf-8", "backslashreplace")
        before, end = ",", "\n  ]\n}\n"
    yield ((before if end[0] == "]" else "") + end).encode("utf-8", "backslashreplace")


def _written_rule(rule: Mapping[str, Any]) -> str:
    fields = ",\n".join(f"      {_json(key)}: {_json(value)}" for key, value in rule.items())
    return f"    {{\n{fields}\n    }}"


def _json(value: Any) -> str:  # noqa: ANN401 -- any JSON value
    # Texts and whole numbers are most of a file, and the encoder takes its time to start.
    if type(value) is str:
        return str(encode_basestring(value))
    return repr(value) if type(value) is int else _ENCODER.encode(value)


INDEX = "index.json"
PART_RULES = 10_000
"""Rules of a part, more or less: a site is not cut."""
_PARTS_FORMAT, _PARTS_VERSION = "undust-rule-parts", 1
_PART_NAME = re.compile(r"[0-9a-f]{32}\.json")
_PARTS_FIX = "get the folder again, or write it again with -o"


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


def write_parts(folder: str, header: Mapping[str, Any], rules: Iterable[Mapping[str, Any]]) -> None:
    """Write rules that come sorted by site, in memory that does not grow with their number."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        message = f"{folder}: is a file, and rules in parts are a folder; name another"
        raise RuleError(message)
    place.mkdir(exist_ok=True)
    before = {part.file for part in _index(folder)[1]} if (place / INDEX).is_file() else set()
    parts = [_written_part(place, header, some) for some in _cut(rules)]
    told = {"format": _PARTS_FORMAT, "version": _PARTS_VERSION, "header": dict(header)}
    told["parts"] = [part._asdict() for part in parts]
    with open_output(str(place / INDEX)) as output:
        output.write(json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")
    for name in before - {part.file for part in parts}:
        with suppress(OSError):  # what remains is in no index, and is never read
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


def _written_part(place: Path, header: Mapping[str, Any], rules: list[Mapping[str, Any]]) -> Part:
    data = written(header, iter(rules))
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
        data = read_whole(path, MOST_FILE_BYTES)
        if hashlib.blake2b(data, digest_size=16).hexdigest() != part.file.partition(".")[0]:
            message = (
                f"{path}: its content is not what its name says, so it was damaged or changed; {_PARTS_FIX}"
            )
            raise InvalidRule(message)
        yield path, data


def _is_between(names: list[str], part: Part) -> bool:
    place = bisect_left(names, part.first)
    return place < len(names) and names[place] <= part.last


def header_of(folder: str) -> dict[str, Any]:
    """Return the header of the rule files."""
    return _index(folder)[0]


def _index(folder: str) -> tuple[dict[str, Any], list[Part]]:
    path = str(Path(folder, INDEX))
    data = read_whole(path, MOST_FILE_BYTES)
    try:
        found = _sound_index(json.loads(data), path)
    except (ValueError, KeyError, TypeError, RecursionError):
        found = None
    if found is None:
        message = f"{path}: not the index of a folder of rules; {_PARTS_FIX}"
        raise InvalidRule(message)
    return found


def _sound_index(content: Any, path: str) -> tuple[dict[str, Any], list[Part]] | None:  # noqa: ANN401 -- any JSON
    """Return the content of an index; None if it is not one."""
    if content["format"] != _PARTS_FORMAT:
        return None
    if content["version"] != _PARTS_VERSION:
        shown = json.dumps(content["version"])
        message = f"{path}: version {shown}, and this undust reads {_PARTS_VERSION}; update undust"
        raise UnknownVersion(message)
    found = [Part(**part) for part in content["parts"]]
    names = [name for part in found if part.first != ANY_SITE for name in (part.first, part.last)]
    is_sound = all(_PART_NAME.fullmatch(part.file) for part in found) and names == sorted(names)
    return (dict(content["header"]), found) if is_sound else None
