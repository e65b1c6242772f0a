"""Facts in, one self-contained page out: no network, nothing to install, nothing that runs but our script.

Everything that strangers wrote travels as JSON inside a block that no browser executes, and becomes text
nodes only. The policy in the head names our script and style by their hashes, so that even a hole in that
would find nothing willing to run it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from undust.files.streams import open_output
from undust.pages.totals import Totals
from undust.showing.figures import figures
from undust.showing.report.gathering import OVERVIEW
from undust.showing.report.texts import made_visible, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from undust.measuring import Measures
    from undust.measuring.traffic import Savings
    from undust.pages.clustering import Summary
    from undust.rules import Rule

SCRIPTS = ("dom", "charts", "headline", "overview", "tree", "rules", "findings", "search", "review", "page")
"""In this order, as one script."""


@dataclass(frozen=True)
class Report:
    """Everything that the page says, and the page."""

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
        elsewhere: Sequence[Rule],
        methods: Mapping[str, Any] | None,
        savings: Sequence[Savings],
        is_masked: bool,
    ) -> Report:
        """Return a report of these parts."""
        total = sum(totals.values(), Totals())
        active = sum(rule.status == "active" for rule in rules)
        facts = {
            "name": name.rpartition("/")[2] or name,
            "sentence": _sentence(total.sentences(len(rows), active)),
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
            "sites": sites,
            "methods": methods,
            "savings": [each.to_json() for each in savings],
        }
        return cls(made_visible(facts), totals)

    @property
    def sentence(self) -> str:
        """What the page says, in a few words."""
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
