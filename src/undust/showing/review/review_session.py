"""What a person can do with rules while reviewing them: try a URL, switch rules, save.

The desk knows nothing of the network. It writes one file, the one it was given, and only the status and the
review of rules in it; what was there before stays beside it.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from undust.errors import UndustError
from undust.files.streams import open_output
from undust.rules import RuleSet
from undust.rules.decisions import decision
from undust.showing.report.texts import Texts, made_visible
from undust.showing.words import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Facts(Protocol):
    """What the page says under some rules, and under others."""

    def with_rules(self, rules: RuleSet) -> Facts:
        """Return the same about other rules."""

    def facts_of(self, site: str | None) -> dict[str, Any]:
        """Return what is said of all sites, and everything that depends on rules about one of them."""


class ReviewSession:
    """The rules under review, and the URLs that show what they remove and lose."""

    def __init__(self, path: str, gathered: Facts) -> None:
        self.path = Path(path).resolve()
        self._seen = self.path.read_bytes()
        self.rules = RuleSet.load(path)
        self._gathered = gathered

    @property
    def off(self) -> list[str]:
        """The ids of the rules that are switched off in the file, or only proposed."""
        pairs = zip(self.rules.ids, self.rules.raw, strict=True)
        return [id_ for id_, raw in pairs if raw.get("status") in {"disabled", "proposed"}]

    def switched(self, off: Iterable[str]) -> RuleSet:
        """Return the rules with exactly these switched off."""
        chosen, ids = set(off), self.rules.ids
        if unknown := sorted(chosen - set(ids)):
            message = f"no rule has the id {unknown[0]!r}; load the page again"
            raise UndustError(message)
        # Leaving a retired rule off is not a decision about it.
        before = set(self.off)
        return self.rules.enable(*sorted(before - chosen)).disable(*sorted(chosen - before))

    def try_url(self, url: str, off: Iterable[str]) -> dict[str, Any]:
        """Return each step of a URL, as `undust explain` shows it."""
        explained = self.switched(off).compile().explain(url)
        # The person typed it: nothing in it is a secret from them.
        texts = Texts()
        steps: list[dict[str, Any]] = []
        if explained.normalized != explained.url:
            change = texts.change(explained.url, explained.normalized)
            steps.append({"rule": None, "change": change})
        before = explained.normalized
        for step in (*explained.steps, *explained.compared, *explained.masks):
            told = {
                "number": step.number,
                "id": step.rule.id,
                "rule": str(step.rule),
                "words": in_words(step.rule),
            }
            steps.append(told | {"change": texts.change(before, step.url)})
            before = step.url
        told = {"canonical": explained.canonical, "key": explained.key, "outcome": explained.outcome}
        return made_visible(told | {"steps": steps})  # type: ignore[no-any-return]

    def measure(self, off: Iterable[str], site: str | None = None) -> dict[str, Any]:
        """Return every number of the page under these switches: of all sites, and of the one that is open."""
        return self._gathered.with_rules(self.switched(off)).facts_of(site)

    def save(self, off: Iterable[str]) -> dict[str, str]:
        """Write the switches into the rule file; the file before is kept beside it."""
        return self._write(self.switched(off))

    def decide(self, off: Iterable[str], reviews: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
        """Write the switches, and what a person decided about rules; who and when is written beside it."""
        decided = self.switched(off)
        for id_ in reviews:
            decided.find(id_)
        after = decided.with_rules(
            replace(rule, review={**(rule.review or {}), **decision(said.get("verdict"), said.get("note"))})
            if (said := reviews.get(rule.id)) is not None
            else rule
            for rule in decided
        )
        written = self._write(after)
        return {**written, "reviews": {rule.id: rule.review for rule in after if rule.id in reviews}}

    def _write(self, decided: RuleSet) -> dict[str, str]:
        if self.path.read_bytes() != self._seen:
            message = f"{self.path.name} was changed in the meantime; start the review again"
            raise UndustError(message)
        # Named for what it holds: a second save cannot replace the first backup.
        digest = hashlib.sha256(self._seen).hexdigest()[:8]
        backup = self.path.with_name(f"{self.path.name}.{digest}.bak")
        with open_output(str(backup)) as output:
            output.write(self._seen)
        decided.save(self.path)
        self.rules, self._seen = decided, self.path.read_bytes()
        return {"file": self.path.name, "backup": backup.name}
