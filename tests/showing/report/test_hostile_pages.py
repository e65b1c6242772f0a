"""URLs, rules and names are written by strangers: on the page they are text, whatever they say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from undust.rules import Rule, RuleSet
from undust.showing.report import ShownRefusal, ShownRefusals

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browsing import Open

ATTACKS = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "</ScRiPt ><img src=x onerror=window.pwned=1>",
    "<!--<script>",
    "]]><script>window.pwned=1</script>",
    '"><img src=x onerror="window.pwned=1">',
    "' onmouseover='window.pwned=1' x='",
    "<svg onload=window.pwned=1>",
    "<svg><script href=data:text/javascript,window.pwned=1></script></svg>",
    "<svg><a xlink:href=javascript:window.pwned=1><text>x</text></a></svg>",
    "javascript:window.pwned=1",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<style>body{background:rgb(1,2,3)!important}</style>",
    "</style><style>body{background:rgb(1,2,3)!important}</style>",
    "x:expression(window.pwned=1);background:url(//evil.test/x)",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=//evil.test/'>",
    "<form action=//evil.test/><button>Save</button></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
    "{{7*7}}{% import os %}{{ config }}",
    "${window.pwned=1}",
    "\\u003cscript\\u003ewindow.pwned=1\\u003c/script\\u003e",
    "\u202egnp.exe\u202c \u2066inside\u2069 \u200b\ufeff\u2028\u2029",
    "__proto__",
    "constructor",
    "\x00\x07\x1b[2J",
)
HARMLESS = {"HTML", "HEAD", "META", "TITLE", "LINK", "STYLE", "BODY", "SCRIPT"}


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page into which every attack was put wherever a text can be put."""
    urls = [f"http://evil.test/{attack}?id={n}&q={attack}" for n, attack in enumerate(ATTACKS)]
    copies = [f"{url}&sid={attack}" for url, attack in zip(urls, ATTACKS, strict=True)]
    pages = [str(n) for n in range(len(ATTACKS))]
    seen = pa.table(
        {"url": urls + copies + [f"http://evil.test/x/{a}" for a in ATTACKS], "cluster": pages * 3}
    )
    text = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} -> {s}://{h}/{p}?{rest}"
    rule = Rule.parse(text, site="evil.test")
    rules = [
        replace(
            rule,
            unless=(f"/{n}",),
            learned_by=attack,
            examples=((f"http://evil.test/{attack}", attack),),
            validated={"when": attack, "how": attack, attack: attack},
            extra={attack: attack} if attack else {},
        )
        for n, attack in enumerate(ATTACKS)
    ]
    refusals = ShownRefusals(
        tuple(ShownRefusal(replace(rule, learned_by=attack), attack, 5, 5) for attack in ATTACKS),
        dict.fromkeys(ATTACKS, 1),
    )
    row = {
        "max_fpr": None, "removed": 0.5, "lost": 0.1, "fpr": 0.1, "rules": 1, "seconds": 1.0,
        "intervals": {"removed": [0, 1], "lost": [0, 1]},
    }  # fmt: skip
    compared = {"rows": [row | {"method": attack} for attack in ATTACKS]}
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    named = RuleSet(rules, name="".join(ATTACKS) + ATTACKS[5])
    undust.report(named, seen, path, compared=compared, refusals={"evil.test": refusals}, keep_values=True)
    return path


def test_every_attack_is_inert(hostile_page: Path, opened: Open) -> None:
    """Nothing runs, nothing is loaded, nothing looks different; what was written can be read."""
    with opened(hostile_page) as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.locator("#search").fill("pwned")
        page.wait_for_selector("#results mark")
        page.locator("#results a").first.hover()
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("Object.prototype.pwned") is None
        assert page.evaluate("document.scripts.length") == 2
        assert page.evaluate("document.styleSheets.length") == 1
        strange = (
            "img, iframe, object, embed, form, base, math, svg a, svg script, [style*=expression], main style"
        )
        assert page.locator(strange).count() == 0
        names = "[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())"
        assert [name for name in page.evaluate(names) if name.startswith("on")] == []
        links = "[...document.querySelectorAll('[href]')].map((one) => one.getAttribute('href'))"
        assert page.locator("[src], [srcdoc], [formaction]").count() == 0
        assert all(link.startswith(("#", "data:,")) for link in page.evaluate(links))
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 247)"
        assert page.evaluate("location.protocol") == "file:"
        shown = page.locator("main").inner_text()
        assert "<script>window.pwned=1</script>" in shown
        assert "{{7*7}}" in shown
        assert "⟨U+202E⟩gnp.exe" in shown
        assert "\u202e" not in shown


def test_the_policy_would_stop_what_slips_through(hostile_page: Path, opened: Open) -> None:
    """Even a hole would be one into an empty room: no foreign script, style or request is let run."""
    with opened(hostile_page) as page:
        policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "connect-src 'none'" in policy
        html = page.content()
        assert "http://" not in html.split("<script")[0].replace("http://evil.test", "")
