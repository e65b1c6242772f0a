"""An ordered set of rules, and the file it lives in.

A crawler loads a hundred thousand rules to run them, not to look at them: so the set holds the JSON
objects of the file, the core reads those, and a `Rule` is made when it is needed. Sets do not
change; what sounds like a change gives a new set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, overload

from undust._core import IMAGE_MARK, Program
from undust.display import drawn
from undust.errors import RuleError
from undust.files.streams import open_output, read_whole
from undust.rules import files
from undust.rules.compiled import (
    Canonicalizer,
    Image,
    PackedRules,
    acting,
    image_of,
    is_image,
    mapped,
    packed_rules,
    unpacked,
)
from undust.rules.language import ANY_SITE, Problem, Rule, Status, asked, decided, identity, merged
from undust.urls.url import suffixes

if TYPE_CHECKING:
    from os import PathLike

    from undust.rules.reasoning.check import Difference, Finding

_CHECKED = "checked"
"""The key of a file with what was measured on pages that nothing was learned from."""
_WRITTEN_TOGETHER = 1000
_MANY = "rules"
"""What a set without a file is called in messages."""


class RuleSet(Sequence[Rule]):
    """Rules in order of preference, no two with one id.

    >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
    >>> rules.compile()("http://shop.test/a.php3?b")
    'http://shop.test/a?b'
    """

    def __init__(self, rules: Iterable[Rule | Mapping[str, Any]] = (), *, name: str = _MANY) -> None:
        raw = [rule.to_json() if isinstance(rule, Rule) else dict(rule) for rule in rules]
        files.require_unique(raw)
        self._start(dict(files.EMPTY_HEADER), raw, name)

    def _start(
        self, header: dict[str, Any], raw: Sequence[dict[str, Any]], name: str, program: Program | None = None
    ) -> None:
        self.name = name
        self._header = header
        self.raw = raw
        self._program = program

    @classmethod
    def load(cls, path: str | PathLike[str], sites: Iterable[str] | None = None) -> Self:
        """Return the rules of a file; `-` is standard input, and it may be packed with gzip or zstd.

        A file that `compile_to` wrote is mapped and ready at once, however many rules it has. Of a folder
        with rules in parts, only the parts that have rules of the `sites` are read, if these are named.
        """
        name = str(path)
        wanted = None if sites is None else list(sites)
        if is_image(name):
            rules = cls._of_image(mapped(name), name)
        elif files.is_folder(name):
            rules = cls._of_parts(name, wanted)
        else:
            rules = cls.loads(read_whole(name, files.MOST_FILE_BYTES), name=name)
        return rules if wanted is None else rules.of_sites(wanted)

    @classmethod
    def _of_parts(cls, folder: str, sites: list[str] | None) -> Self:
        rules = cls.__new__(cls)
        raw: list[dict[str, Any]] = []
        for name, data in files.parts_of(folder, sites):
            raw += cls.loads(data, name=name).raw
        rules._start(files.header_of(folder), raw, folder)  # noqa: SLF001 -- its own
        return rules

    @classmethod
    def _of_image(cls, held: Image, name: str) -> Self:
        rules = cls.__new__(cls)
        rules._start(held.header, held.rules, name, held.program)  # noqa: SLF001 -- its own
        return rules

    @classmethod
    def loads(cls, data: bytes | str, *, name: str = _MANY) -> Self:
        """Return the rules in the text of a rule file; `name` is what messages call it."""
        data = data.encode() if isinstance(data, str) else data
        if data.startswith(IMAGE_MARK):
            return cls._of_image(unpacked(memoryview(data), name), name)
        rules = cls.__new__(cls)
        if (plain := files.read_plain(data, name)) is not None:
            rules._start(plain[0], plain[1], name, plain[2])  # noqa: SLF001 -- its own
            return rules
        header, version, raw = files.read(data, name)
        rules._start(header, raw, name)  # noqa: SLF001 -- its own
        try:
            _ = rules.program
            files.require_version(version, raw)
        except Problem as problem:
            raise files.located(problem, name, data) from None
        return rules

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file, whole or not at all; the same rules give the same bytes.

        Where the name ends with a slash it is a folder, with the rules in parts, sorted by site.
        """
        if is_image(str(path)):
            message = f"{path}: a compiled rule file is not changed; change its source and compile that again"
            raise RuleError(message)
        if files.is_folder(str(path)):
            places = [_place_of_site(rule) for rule in self.raw]
            by_site = sorted(range(len(places)), key=places.__getitem__)
            files.write_parts(str(path), self._header, (_with_id(self.raw[place]) for place in by_site))
            return
        header = files.header_of_rules(self._header, self.raw)
        with open_output(str(path)) as output:
            pieces = files.written_pieces(header, map(_with_id, self.raw))
            while some := b"".join(islice(pieces, _WRITTEN_TOGETHER)):
                output.write(some)

    def dumps(self) -> bytes:
        """Return the bytes of the rule file.

        >>> print(RuleSet().dumps().decode(), end="")
        {
          "format": "undust-rules",
          "version": 1,
          "rules": []
        }
        """
        return files.written(self._header, map(_with_id, self.raw))

    def compile_to(self, path: str | PathLike[str]) -> None:
        """Write the rules as a compiled file, which `load` maps: for many rules, or many processes.

        It fits this version of undust and this kind of machine; keep the rule file as the source.

        >>> import os, tempfile
        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.compile_to(os.path.join(folder, "rules.undust"))
        ...     load(os.path.join(folder, "rules.undust")).compile()("http://shop.test/a.php3?b")
        'http://shop.test/a?b'
        """
        with open_output(str(path)) as output:
            output.write(image_of(self.program, self._header, self.raw))

    def of_sites(self, sites: Iterable[str]) -> Self:
        """Return the rules of these sites, and those for all sites.

        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> len(rules.of_sites(["shop.test"])), len(rules.of_sites(["other.test"]))
        (1, 0)
        """
        wanted = {ANY_SITE, *map(str.lower, sites)}
        return self._like([rule for rule in self.raw if rule["site"].lower() in wanted])

    def compile(self) -> Canonicalizer:
        """Return the function that these rules are."""
        return Canonicalizer(self)

    @property
    def program(self) -> Program:
        """The rules as the core runs them; made once."""
        if self._program is None:
            self._program = asked(Program, acting(list(self.raw)), suffixes())
        return self._program

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_program": None}

    def __len__(self) -> int:
        return len(self.raw)

    @overload
    def __getitem__(self, place: int) -> Rule: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> Rule | Self:
        if isinstance(place, slice):
            return self._like(self.raw[place])
        return self._rule(range(len(self.raw))[place])

    def __iter__(self) -> Iterator[Rule]:
        return map(self._rule, range(len(self.raw)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleSet):
            return NotImplemented
        return self._header == other._header and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # rules carry evidence of any kind

    def __repr__(self) -> str:
        return f"<RuleSet {self.name!r} of {len(self)} rules>"

    def __str__(self) -> str:
        """Return a table that a person can read."""
        return drawn("RuleSet", "text", self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return drawn("RuleSet", "html", self)

    def _rule(self, place: int) -> Rule:
        try:
            return Rule.from_json(self.raw[place])
        except Problem as problem:
            numbered = Problem(problem.message, problem.field, problem.column, place + 1)
            raise files.located(numbered, self.name) from None

    def _like(self, raw: Sequence[dict[str, Any]]) -> Self:
        rules = type(self).__new__(type(self))
        rules._start(self._header, raw, self.name)  # noqa: SLF001 -- its own
        return rules

    def with_rules(self, rules: Iterable[Rule]) -> Self:
        """Return a set of other rules, with the name and whatever else the file of this one says.

        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> len(rules.with_rules(rule for rule in rules if rule.kind == "keep"))
        0
        """
        raw = [rule.to_json() for rule in rules]
        files.require_unique(raw)
        return self._like(raw)

    def with_check(self, found: Mapping[str, Any] | None) -> Self:
        """Return the set with what was found on pages that nothing was learned from; None removes it.

        The statement is about these rules as they are switched now.

        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> checked = rules.with_check({"says": "at most 0.38 % of pages lost"})
        >>> checked.checked["says"], checked.disable("1413").checked
        ('at most 0.38 % of pages lost', None)
        """
        rules = self._like(self.raw)
        rules._header = {key: value for key, value in self._header.items() if key != _CHECKED}  # noqa: SLF001
        if found is not None:
            rules._header |= {_CHECKED: {**found, "rules": self._switched}}  # noqa: SLF001 -- its own
        return rules

    @property
    def checked(self) -> dict[str, Any] | None:
        """What was found when these rules were checked on pages that nothing was learned from.

        None if they were not, or if the file was checked with other rules, or other rules switched on.
        """
        found = self._header.get(_CHECKED)
        if not isinstance(found, dict) or not isinstance(found.get("says"), str):
            return None
        return dict(found) if found.get("rules") == self._switched else None

    @property
    def _switched(self) -> str:
        """A short text that is the same for the same active rules in the same order."""
        ids = (_id_of(rule) for rule in self.raw if rule.get("status", "active") == "active")
        return blake2b("\n".join(ids).encode(), digest_size=8).hexdigest()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the rules, in order."""
        return tuple(map(_id_of, self.raw))

    def find(self, id: str) -> Rule:  # noqa: A002 -- the name that rule files use
        """Return the rule whose id starts so.

        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> print(rules.find("1413"))
        replace ".php3?" → "?"
        """
        return self._rule(self._place(id, self.ids))

    def _place(self, start: str, ids: Sequence[str]) -> int:
        places = [place for place, whole in enumerate(ids) if whole.startswith(start)] if start else []
        if len(places) == 1:
            return places[0]
        if places:
            shown = ", ".join(ids[place] for place in places[:3])
            message = f"{self.name}: the id {start} may be {shown}; write more of it"
        else:
            message = f"{self.name}: no rule has the id {start!r}; `undust rules list {self.name}` shows them"
        raise RuleError(message)

    def enable(self, *ids: str) -> Self:
        """Return the set with these rules switched on; a unique start of an id is enough.

        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")]).disable("1413")
        >>> rules.enable("1413").compile()("http://shop.test/a.php3?b")
        'http://shop.test/a?b'
        """
        return self._with_status("active", ids)

    def disable(self, *ids: str) -> Self:
        """Return the set with these rules switched off; they stay in the file, and stay off.

        So they do when sets are merged and when rules are learned again, whatever the evidence: also those
        that evidence retired, which could come back without that.

        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> rules.disable("1413").compile()("http://shop.test/a.php3?b")
        'http://shop.test/a.php3?b'
        """
        return self._with_status("disabled", ids)

    def _with_status(self, status: Status, starts: Iterable[str]) -> Self:
        ids = self.ids
        places = {self._place(start, ids) for start in starts}
        return self._like(
            [decided(rule, status) if place in places else rule for place, rule in enumerate(self.raw)]
        )

    def merge(self, other: RuleSet) -> Self:
        """Return these rules, then those that only `other` has.

        A rule that both have keeps its place here and takes its evidence from `other`, which is taken
        for the newer one. It is off if either has switched it off, and proposed if both propose it; it is
        for comparing only if either says so, and needs what either needs.

        >>> old = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> new = RuleSet([Rule.parse("keep {s}://{h}/cart", site="shop.test"), *old])
        >>> [rule.kind for rule in old.disable("1413").merge(new)]
        ['replace', 'keep']
        """
        newer = {files.said_by(rule): rule for rule in other.raw}
        both = [merged(rule, newer.pop(files.said_by(rule), None)) for rule in self.raw]
        return self._like([*both, *newer.values()])

    def diff(self, other: RuleSet) -> Difference:
        """Return what turns this set into the other one.

        >>> rules = RuleSet([Rule.parse('replace ".php3?" -> "?"', site="shop.test")])
        >>> rules.diff(rules.disable("1413")).changed[0].fields
        {'status': ('active', 'disabled')}
        """
        from undust.rules.reasoning.check import difference  # noqa: PLC0415 -- only reviews need it

        return difference(list(self), list(other))

    def check(self) -> tuple[Finding, ...]:
        """Return what a person should know before these rules are deployed.

        >>> there, back = 'replace "/a/" -> "/b/"', 'replace "/b/" -> "/a/"'
        >>> rules = RuleSet(Rule.parse(text, site="shop.test") for text in (there, back))
        >>> [finding.kind for finding in rules.check()]
        ['inverse']
        """
        from undust.rules.reasoning.check import check  # noqa: PLC0415 -- only reviews need it

        return check(self)


def load(path: str | PathLike[str], sites: Iterable[str] | None = None) -> RuleSet:
    """Return the rules of a file, or of a folder with rules in parts; all, or those of some sites."""
    return RuleSet.load(path, sites)


def with_very_many(before: RuleSet, rules: Iterable[Rule]) -> RuleSet:
    """Return what `with_rules` does, of rules that differ and are too many to be held as objects."""
    raw = packed_rules(files.EMPTY_HEADER, (rule.to_json() for rule in rules))
    return before._like(PackedRules(memoryview(raw), before.name))  # noqa: SLF001 -- as a method would


def _place_of_site(rule: Mapping[str, Any]) -> tuple[bool, str]:
    """Return the place of a rule in a folder: by site, and last if it is for all sites."""
    return rule["site"] == ANY_SITE, files.site_key(rule["site"])


def _id_of(rule: Mapping[str, Any]) -> str:
    return identity(files.said_by(rule))


def _with_id(rule: Mapping[str, Any]) -> dict[str, Any]:
    # An id that a person's edit has made stale must not survive: other tools find rules by it.
    return {"id": _id_of(rule), **{key: value for key, value in rule.items() if key != "id"}}
