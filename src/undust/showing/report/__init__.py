"""The page that a person reads before rules are deployed: facts of rules and URLs in, one file out.

The page needs nothing else: no network, nothing to install, and it runs only our script. The facts are one
JSON value: the whole, the sites at a glance, and some sites in full.

Everything that strangers wrote travels as JSON inside a block that no browser executes, and becomes text
nodes only. The policy in the head names our script and style by their hashes, so that even a hole in that
would find nothing willing to run it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.files.streams import open_output
from undust.measuring.measures import share
from undust.rules import RuleSet
from undust.showing.report.material import (
    PAGE_BYTES,
    Limits,
    Material,
    ShownRefusal,
    ShownRefusals,
    Texts,
    limits_for,
    made_visible,
    spread,
    unexplained,
    visible,
)
from undust.showing.report.rule_facts import RuleTrials, told_alike, told_refusals, told_rules
from undust.showing.report.sections import curve, fetches, scheme
from undust.showing.words import figures
from undust.statistics import Totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from undust.measuring import Measures
    from undust.measuring.counts import Savings
    from undust.pages.clustering import Summary
    from undust.rules import Rule


OVERVIEW = (
    *("site", "seen", "judged", "pages", "removed_by_normalization", "removed_by_rules"),
    *("removed", "lost", "rules"),
)  # fmt: skip
"""The columns of a site at a glance."""


def site_facts(material: Material, tried: RuleTrials) -> dict[str, Any]:
    """Return everything that the page shows of one site."""
    measures = material.measures
    return {
        "site": material.site,
        "seen": material.totals.seen,
        "totals": material.totals.as_json(),
        "figures": None if measures is None else figures(measures),
        "active": len(material.active),
        "rule_count": len(material.rules),
        "rules": told_rules(material, tried),
        "tree": None
        if material.tree is None
        else scheme(material.tree, material.limits.branches, material.texts),
        "refused": told_refusals(material),
        "unexplained": unexplained(material),
        "distrusted": _distrusted(material),
        "evidence": _evidence(material),
        "fetches": fetches(material),
        "curve": curve(material),
        "urls": _urls(material),
    }


def _distrusted(material: Material) -> dict[str, Any]:
    found = sorted(material.clusters.found, key=lambda one: (-one.urls, one.kind, one.about, one.why))
    shown = []
    for one in found[: material.limits.groups]:
        texts = material.texts
        examples = [" → ".join(map(texts.url, example.split(" → "))) for example in one.examples]
        shown.append(asdict(one) | {"about": texts.url(one.about), "examples": examples})
    return {"groups": len(found), "urls": sum(one.urls for one in found), "shown": shown}


def _evidence(material: Material) -> list[list[Any]]:
    counts: dict[str, int] = {}
    column = material.clusters.evidence.drop_null().value_counts()
    for entry in column.to_pylist():
        for kind in entry["values"].split("+"):
            counts[kind] = counts.get(kind, 0) + entry["counts"]
    return [[kind, count] for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _urls(material: Material) -> list[list[Any]]:
    """Return a sample of the URLs, each with its key; 0 where that is the URL itself."""
    urls = material.clusters.urls
    chosen = urls.take(pa.array(spread(len(urls), material.limits.urls), pa.int64()))
    keys = RuleSet(material.rules).compile().batch(chosen.cast(pa.string()), keys=True)
    pairs = zip(chosen.to_pylist(), keys.to_pylist(), strict=True)
    texts = material.texts
    return [[texts.url(url), 0 if key == url else texts.url(key)] for url, key in pairs]


def glance(site: str, totals: Totals, active: int) -> tuple[Any, ...]:
    """Return one site at a glance; where nothing could be judged, how many forms of URL are fewer."""
    if totals.judged:
        removed = totals.removed_by_normalization, totals.removed_by_rules
        rates = share(totals.removed, totals.duplicates), share(totals.lost, totals.pages)
        return site, totals.seen, totals.judged, totals.pages, *removed, *rates, active
    fewer = totals.seen - totals.seen_normalized, totals.seen_normalized - totals.seen_left
    return site, totals.seen, 0, None, *fewer, None, None, active


def overview(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the sites at a glance, those with most removed URLs first."""
    return [list(row) for row in sorted(rows, key=lambda row: (-(row[4] + row[5]), row[0]))]


class PageBudget:
    """How many bytes of sites the page can still take; the first one always fits."""

    def __init__(self, most: int = PAGE_BYTES) -> None:
        self.left = most
        self.sites: dict[str, dict[str, Any]] = {}

    def take(self, facts: dict[str, Any]) -> bool:
        """Add a site, or report that there is no room for it."""
        size = len(json.dumps(facts))
        if self.sites and size > self.left:
            return False
        self.left -= size
        self.sites[facts["site"]] = facts
        return True


SCRIPTS = ("dom", "charts", "headline", "overview", "tree", "rules", "findings", "search", "review", "page")
"""In this order, as one script."""


@dataclass(frozen=True)
class Report:
    """Everything that the page shows, and the page."""

    facts: Mapping[str, Any]

    totals: Mapping[str, Totals] = field(default_factory=dict)
    """The counts of each site."""

    @classmethod
    def of(  # noqa: PLR0913 -- one for each part of the page
        cls,
        *,
        name: str,
        rows: list[list[Any]],
        sites: Mapping[str, Any],
        measures: Measures | None,
        totals: Mapping[str, Totals],
        summary: Summary,
        unlabelled: int,
        rules: Sequence[Rule],
        checked: str | None,
        elsewhere: Sequence[Rule],
        methods: Mapping[str, Any] | None,
        savings: Sequence[Savings],
        said: Callable[[str], str],
        is_masked: bool,
    ) -> Report:
        """Return a report of these parts."""
        total = sum(totals.values(), Totals())
        active = sum(rule.status == "active" for rule in rules)
        facts = {
            "name": name.rpartition("/")[2] or name,
            "sentence": _sentence(total.sentences(len(rows), active)),
            "checked": checked,
            "seen": total.seen,
            "totals": total.as_json(),
            "site_count": len(rows),
            "not_urls": summary.not_urls,
            "unlabelled": unlabelled,
            "figures": None if measures is None else figures(measures),
            "rule_count": len(rules),
            "active": active,
            "elsewhere": len(elsewhere),
            "masked": is_masked,
            "columns": OVERVIEW,
            "overview": rows,
            "alike": told_alike(rules, said) if len(rows) > 1 else [],
            "sites": sites,
            "methods": methods,
            "savings": [each.to_json() for each in savings],
        }
        return cls(made_visible(facts), totals)

    @property
    def sentence(self) -> str:
        """What the page shows, in a few words."""
        return str(self.facts["sentence"])

    def html(self, served: Mapping[str, Any] | None = None) -> str:
        """Return the page; `served` is what the review server passes to its own page."""
        assets = _assets()
        connect = "'self'" if served else "'none'"
        policy = (
            f"default-src 'none'; script-src '{assets['script_hash']}'; style-src '{assets['style_hash']}'; "
            f"img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
        )
        return _template().render(  # type: ignore[no-any-return]
            title=visible(str(self.facts["name"])),
            policy=policy,
            facts=embedded(dict(self.facts) | {"served": served}),
            assets=assets,
            lead=self.sentence,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with open_output(str(path)) as output:
            output.write(self.html().encode())

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page in a frame that may run nothing but it."""
        from html import escape  # noqa: PLC0415 -- for notebooks only

        style = "width:100%;height:40em;border:0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self.html())}"></iframe>'


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def embedded(value: Any) -> str:  # noqa: ANN401 -- any JSON value
    """Return JSON that cannot leave the script element it is in, whatever is in it.

    >>> "<" in embedded("</script><!--")
    False
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _assets() -> dict[str, str]:
    folder = files("undust.showing.report") / "assets"
    scripts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    script = '"use strict";\n(() => {\n' + "\n".join(scripts) + "\n})();\n"
    style = (folder / "page.css").read_text(encoding="utf-8")
    return {
        "script": script,
        "style": style,
        "script_hash": _hash(script),
        "style_hash": _hash(style),
    }


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _template() -> Any:  # noqa: ANN401 -- a jinja2 template
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 -- slow to load, and for pages only

    text = (files("undust.showing.report") / "assets" / "page.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(text)


__all__ = [
    "Limits",
    "Material",
    "PageBudget",
    "Report",
    "RuleTrials",
    "ShownRefusal",
    "ShownRefusals",
    "Texts",
    "glance",
    "limits_for",
    "overview",
    "site_facts",
]
