"""Everything in Python that reads what strangers wrote, each with the promise that no bytes break.

A target takes bytes and a folder to write them to. It returns whether they were taken or refused in one
sentence; any other end is a finding. Its samples are the files of `corpus/NAME/`, and for the readers
also those of `tests/crawls/`. A finding that was mended stays in the corpus.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

import undust
from undust.asking.answers import JournalFile
from undust.cli.report import read_comparison
from undust.errors import UndustError, WrongUsage
from undust.exchange.imports import IMPORTERS, import_rules
from undust.jobs.application import Application, OutputOptions
from undust.jobs.mapping import Canonicalizing
from undust.jobs.urls_input import UrlsInput
from undust.reading.formats import SOURCES
from undust.reading.formats.access_log import compiled
from undust.reading.page import Body, content_of, page_of
from undust.rules import Rule, RuleSet
from undust.showing.report.sections import methods_from
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[bytes, Path], object]

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
CRAWLS = HERE.parent / "crawls"
SUFFIXES = {"access-log": "log", "sitemap": "xml", "urls": "txt"}
"""Where the suffix of a format's files is not its name."""
TABLES = [source.name for source in SOURCES if source.is_table]
URLS = (
    "http://shop.test/",
    "http://www.shop.test/a/b-c/42?sid=9&id=7&utm_source=x#top",
    "https://shop.test:8443/Index.PHP?a=1&a=2;b=%C3%BC",
    "http://user@shop.test/%2e%2e/x",
    "no url at all",
    "http://[::1]/",
)


class Target(NamedTuple):
    """Something that reads strangers' bytes."""

    name: str
    check: Check
    """Raises an `UndustError` of one sentence, or nothing; everything else is a finding."""

    def seeds(self) -> list[bytes]:
        """Return the samples to start from."""
        found = sorted((CORPUS / self.name).glob("*"))
        job, _, kind = self.name.partition("-")
        if job in {"read", "apply"}:
            found += sorted(CRAWLS.glob(f"*.{SUFFIXES.get(kind, kind)}"))
        return [path.read_bytes() for path in found]

    def takes(self, data: bytes, folder: Path) -> bool:
        """Return whether bytes were taken, or refused in one sentence."""
        try:
            self.check(data, folder)
        except UndustError as error:
            said = str(error)
            assert said, "a refusal says why"
            assert "\n" not in said, said
            return False
        return True


def _file(data: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _read_as(name: str | None) -> Check:
    def check(data: bytes, folder: Path) -> None:
        path = _file(data, folder, "input")
        try:
            seen = undust.read(path, format=name, base="http://shop.test")
        except UndustError as error:
            assert str(error).startswith(str(path)), error  # noqa: PT017 -- a refusal names its file
            raise
        seen.table.validate(full=True)
        assert all(seen.table["url"].to_pylist())
        str(seen.report())

    return check


def _rule_file(data: bytes, folder: Path) -> None:
    path = _file(data, folder, "rules.json")
    try:
        rules = RuleSet.load(path)
    except UndustError as error:
        assert str(error).startswith(str(path)), error  # noqa: PT017
        raise
    _promises_hold(rules)
    list(rules)  # makes each rule, evidence and all
    again = RuleSet.loads(rules.dumps())
    assert again.dumps() == rules.dumps()
    str(rules)


def _promises_hold(rules: RuleSet) -> None:
    canonicalize = rules.compile()
    for url in URLS:
        once = canonicalize(url)
        assert canonicalize(once) == once
        assert site_of(once) == site_of(url)
        canonicalize.key(url)
        canonicalize.explain(url)


def _rule_text(data: bytes, _: Path) -> None:
    rule = Rule.parse(data.decode("utf-8", "replace"), site="shop.test")
    assert Rule.parse(str(rule), site="shop.test") == rule
    _promises_hold(RuleSet([rule]))


@cache
def _shop_rules() -> RuleSet:
    return RuleSet.load(next((CORPUS / "rule-file").glob("shop.json")))


def _canonicalizer(data: bytes, _: Path) -> None:
    canonicalize = _shop_rules().compile()
    out, count, _counts = canonicalize.lines(data)
    again, recount, _counts = canonicalize.lines(out)
    assert (again, recount) == (out, count)
    texts = [line.decode("utf-8", "replace") for line in data.split(b"\n")]
    singles = [canonicalize(text) for text in texts]
    assert canonicalize.batch(pa.array(texts)).to_pylist() == singles
    assert [canonicalize(single) for single in singles] == singles
    assert list(map(site_of, singles)) == list(map(site_of, texts))
    keys = [canonicalize.key(text) for text in texts]
    assert [canonicalize.explain(text).key for text in texts] == keys


def _normalize(data: bytes, _: Path) -> None:
    for text in data.decode("utf-8", "replace").split("\n"):
        once = undust.normalize(text)
        assert undust.normalize(once) == once


class _Elements(HTMLParser):
    """What a page is made of, as a browser would see it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


FORBIDDEN = {"img", "iframe", "object", "embed", "form", "base", "math", "audio", "video", "frame", "applet"}


def _report(data: bytes, folder: Path) -> None:
    """Bytes wherever a stranger can write: in URLs, in evidence, in names."""
    text = data.decode("utf-8", "replace")
    urls = [f"http://shop.test/{n}?id={n}&q={text}" for n in range(3)]
    seen = pa.table({"url": [*urls, *(f"{url}&sid={text}" for url in urls)], "cluster": ["0", "1", "2"] * 2})
    said = {
        "site": "shop.test", "kind": "rewrite", "learned_by": text, "examples": [[urls[0], text]],
        "from": "{s}://{h}/{p**}?{**:sid}&{rest**}", "to": "{s}://{h}/{p}?{rest}",
        "validated": {"when": text, "how": text}, text: text,
    }  # fmt: skip
    page = folder / "report.html"
    undust.report(RuleSet([said], name=text), seen, page, keep_values=True)
    elements = _Elements()
    elements.feed(page.read_text(encoding="utf-8"))
    elements.close()
    assert elements.tags.count("script") == 2
    assert elements.tags.count("style") == 1
    assert not FORBIDDEN & set(elements.tags)
    assert not [name for name, _ in elements.attributes if name.startswith("on") or name in {"src", "srcdoc"}]
    links = [value for name, value in elements.attributes if name in {"href", "xlink:href", "action"}]
    assert all(link.startswith(("#", "data:,")) for link in links), links


def _import_from(name: str, *, needs_site: bool) -> Check:
    def check(data: bytes, folder: Path) -> None:
        path = _file(data, folder, "list")
        found = import_rules(path, name, site="shop.test" if needs_site else None)
        assert all("\n" not in str(skipped) for skipped in found.skipped)
        _promises_hold(found.rules)

    return check


def _journal(data: bytes, folder: Path) -> None:
    path = _file(data, folder, "journal")
    JournalFile(path, "job", resume=True).close()


def _page(data: bytes, _: Path) -> None:
    """A response as an archive or a server gives it: headers, an empty line, a body."""
    head, _found, body = data.partition(b"\n\n")
    headers: dict[str, list[str]] = {}
    for line in head.decode("latin-1").split("\n"):
        name, _colon, value = line.partition(":")
        headers.setdefault(name.strip().lower(), []).append(value.strip())
    kind = headers.get("content-type", [None])[0]
    content = content_of(Body.of([body]), kind)
    page_of("http://shop.test/a", 200, headers, content)


def _comparison(data: bytes, folder: Path) -> None:
    methods_from(read_comparison(str(_file(data, folder, "compare.json"))))


def _log_format(data: bytes, _: Path) -> None:
    compiled(data.decode("utf-8", "replace"))


def _apply_to(kind: str | None) -> Check:
    def check(data: bytes, folder: Path) -> None:
        path = _file(data, folder, "table")
        job = Application(
            Canonicalizing(_shop_rules().compile(), uses=True),
            UrlsInput(kind, base="http://shop.test"),
            OutputOptions(into="canonical"),
            stats=True,
        )
        with suppress(WrongUsage):  # a list has no column to write
            job.run([str(path)], len)

    return check


TARGETS = (
    *(Target(f"read-{source.name}", _read_as(source.name)) for source in SOURCES),
    Target("read-any", _read_as(None)),
    Target("rule-file", _rule_file),
    Target("rule-text", _rule_text),
    Target("canonicalizer", _canonicalizer),
    Target("normalize", _normalize),
    Target("report", _report),
    *(
        Target(f"import-{source.name}", _import_from(source.name, needs_site=source.needs_site))
        for source in IMPORTERS
    ),
    *(Target(f"apply-{kind}", _apply_to(kind)) for kind in ("lines", *TABLES)),
    Target("apply-any", _apply_to(None)),
    Target("page", _page),
    Target("journal", _journal),
    Target("comparison", _comparison),
    Target("log-format", _log_format),
)
