"""The search for the edits of a site: propose, judge, accept the best, propose again from where it led."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from undust.edits import KEEP, Given, Keep
from undust.judging import KeyState, Site, effects
from undust.judging.effect import keys_of_lost, keys_without, lost_in, transition
from undust.proposing import PROPOSERS, SeenSite
from undust.searching.guards import Guards
from undust.searching.objective import NOTHING_EXCUSED, Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.edits import Edit
    from undust.judging import EditEffect, PairEvidence
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule
    from undust.searching.forgotten import Excused

    Propose = Callable[[SeenSite], Iterable[Edit]]
    IsUnwanted = Callable[[Rule, Sequence[Rule]], bool]

ROUNDS, MOST_EDITS = 4, 80
_NARROWED, LEAST_NARROWED = 40, 5
"""So many failing edits of a proposer are narrowed, those with most pages first; each has so many pages."""
_KEEPS = 3
"""Classes of restless pages, at most."""
AHEAD = 8
"""So many of the next best are judged along with one that must be judged again."""
SAFEGUARDS = 3
"""So often guards are added to an edit that is right in company only."""
_KEPT = 0.5
"""The share of what an edit saves alone that it must save in company."""


@dataclass(frozen=True)
class Learned:
    """What was learned of one site."""

    site: str
    edits: tuple[Edit, ...]
    rules: tuple[Rule, ...]
    candidates: int
    refused: dict[str, int]
    """Why edits were not taken, and how many."""
    urls: int
    left: int
    """Keys that remain."""
    pages: int
    lost: int
    """Pages under the key of another."""


@dataclass
class Search:
    """The search on one site."""

    state: KeyState
    objective: Objective = field(default_factory=Objective)
    is_unwanted: IsUnwanted | None = None
    """Whether a rule, beside others, does what a person switched off."""
    candidates: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    _off: set[str] = field(default_factory=set)
    """Edits that were taken or failed in company."""
    _known: dict[str, Edit] = field(default_factory=dict)
    """All edits that were proposed, each once: what it takes to say one is found out once."""
    _proposed: dict[str, Edit] = field(default_factory=dict)
    """What accepted edits were before they were kept to where they were seen to hold."""
    _failed: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Edits that hold nowhere, and the pages for and against each; nobody asks again before they change."""
    _asked: dict[Propose, KeyState] = field(default_factory=dict)
    """The state from which each proposer proposed last."""
    _looked: tuple[KeyState, SeenSite] | None = None
    _raw: KeyState | None = None
    """Where the URLs stand without any edit."""
    _guards: Guards = field(default_factory=Guards)

    def run(self) -> KeyState:
        """Return the state that no proposal improves, with restless pages kept if that is worth it."""
        start = self.state
        self._keep_restless()
        if self.state is start:
            return self._searched()
        other = Search(start, self.objective, self.is_unwanted, _guards=self._guards)
        with_keeps, without = self._searched(), other._searched()
        self._proposed = other._proposed | self._proposed
        self.candidates += other.candidates
        self.state = max((with_keeps, without), key=self._value)
        return self.state

    def proposed_as(self, edit: Edit) -> Edit:
        """Return an accepted edit as it was before it was kept to where it was seen to hold."""
        return self._proposed.get(edit.text, edit)

    def _searched(self) -> KeyState:
        for _ in range(ROUNDS):
            before = self.state
            for propose in PROPOSERS:
                self._try(propose)
            if self.state is before:
                break
        self._prune()
        return self.state

    def _keep_restless(self) -> None:
        """Leave classes of pages alone that are another one at every fetch."""
        for _ in range(_KEEPS):
            some = (edit for propose in PROPOSERS[:2] for edit in propose(self._seen()))
            offered = [edit for edit in some if not edit.is_mask]
            found = self._guards.restless(self.state, effects(self.state, offered))
            if not found:
                return
            for guard in found:
                self.state = self.state.with_edit(Keep(when=(guard,)))

    def _try(self, propose: Propose) -> None:
        """Accept the best of what a proposer offers, then what holds under guards."""
        if self._asked.get(propose) is self.state:
            return
        site = self.state.site.name
        some = (self._known.setdefault(edit.text, edit) for edit in propose(self._seen()))
        offered = {edit.text: edit for edit in some if edit.text not in self._off}
        edits = [edit for edit in offered.values() if edit.rules(site)]
        self.candidates += len(edits)
        before = self.state
        judged = effects(before, edits)
        self._take(judged)
        failing = [effect for effect in judged if effect.lost and effect.pages >= LEAST_NARROWED]
        failing.sort(key=lambda effect: (-effect.pages, effect.edit.text))
        for effect in failing[:_NARROWED]:
            if self._failed.get(effect.edit.text) != (effect.pages, effect.lost):
                self._narrow(effect, before)
        self._asked[propose] = self.state

    def _seen(self) -> SeenSite:
        """Return what proposers look at; the same until the URLs stand elsewhere."""
        if self._looked is None or self._looked[0] is not self.state:
            self._looked = self.state, SeenSite(self.state)
        return self._looked[1]

    def _take(self, offered: Iterable[EditEffect]) -> None:
        """Accept the best one after the other; what an edit is worth is seen anew after each."""
        judged: dict[str, EditEffect] = {}
        queue: list[tuple[float, str, int]] = []
        version = 0

        def add(effect: EditEffect) -> None:
            if (worth := self.objective.worth_having(effect)) is not None:
                judged[effect.edit.text] = effect
                heapq.heappush(queue, (-worth.value, effect.edit.text, version))

        for effect in offered:
            add(effect)
        while queue and len(self.state.edits) < MOST_EDITS:
            _, text, seen = heapq.heappop(queue)
            if seen != version:
                # Those that come next will be asked for as well, most likely.
                ahead = [heapq.heappop(queue) for _ in range(min(AHEAD, len(queue)))]
                for each in (item for item in ahead if item[2] == version):
                    heapq.heappush(queue, each)
                again = [text, *(each[1] for each in ahead if each[2] != version)]
                for effect in effects(self.state, [judged[each].edit for each in again]):
                    add(effect)
                continue
            if self._accept(judged[text]):
                version += 1

    def _accept(self, alone: EditEffect, excused: Excused = NOTHING_EXCUSED) -> bool:
        """Accept an edit, unless in the company of the others it does not what it does alone."""
        edit = alone.edit
        self._off.add(edit.text)
        reaching = self._safe(self._guards.reach(self.state, alone))
        if reaching is None:
            self.refused["is right in company only"] += 1
            return False
        if self._is_switched_off(reaching):
            self.refused["was switched off"] += 1
            return False
        after = self.state.with_edit(reaching)
        together = transition(self.state, after, edit)
        if together.saved < max(1.0, _KEPT * alone.saved) or not self.objective.worth_having(
            together, excused
        ):
            self.refused["does something else in company"] += 1
            return False
        self.state = after
        self._proposed[reaching.text] = edit
        return True

    def _is_switched_off(self, edit: Edit) -> bool:
        """Return whether an edit does what a person switched off."""
        if self.is_unwanted is None:
            return False
        rules = edit.rules(self.state.site.name) or ()
        return any(self.is_unwanted(rule, self.state.rules) for rule in rules)

    def _safe(self, edit: Edit) -> Edit | None:
        """Return an edit that merges no pages without the others either, under more guards if need be."""
        raw = KeyState(self.state.site, tuple(each for each in self.state.edits if each.operation == KEEP))
        if self._raw is None or self._raw.edits != raw.edits:
            self._raw = raw
        site = self.state.site.name
        for _ in range(SAFEGUARDS):
            if not edit.rules(site):
                return None
            (alone,) = effects(self._raw, [edit])
            if alone.lost <= self.objective.most * (alone.pages + alone.lost):
                return edit
            trials = self._guards.exceptions(self._raw, alone)
            if not trials:
                return None
            edit = trials[-1].edit
        return None

    def _narrow(self, effect: EditEffect, seen: KeyState) -> None:
        """Accept an edit, judged on a state, under guards, as often as it holds somewhere apart."""
        edit = effect.edit
        for _ in range(3):
            if seen is not self.state:
                seen = self.state
                (effect,) = effects(seen, [edit])
            if effect.pages < LEAST_NARROWED:
                return
            site = self.state.site.name
            found = self._guards.where_it_holds(self.state, effect, LEAST_NARROWED)
            trials = [trial for trial in found if trial.edit.text not in self._off and trial.edit.rules(site)]
            judged = effects(self.state, [trial.edit for trial in trials], effect.moved)
            worths = [
                (worth.value, each.edit.text, each, trial.excused)
                for each, trial in zip(judged, trials, strict=True)
                if (worth := self.objective.worth_having(each, trial.excused)) is not None
            ]
            if not worths:
                self._failed[edit.text] = effect.pages, effect.lost
                return
            if not self._accept(*max(worths, key=lambda found: found[:2])[2:]):
                return

    def _prune(self) -> None:
        """Leave out edits without which the set is worth no less."""
        lost = keys_of_lost(self.state)
        learned = (edit for edit in self.state.edits if not isinstance(edit, Given))
        for edit in [edit for edit in learned if edit.operation != KEEP]:
            # Without it, at most what is lost where it acts is found again: it stays if that would not pay
            # for the keys.
            there = np.isin(lost, self.state.key[self.state.used_by(edit)])
            spared = self.objective.loss * int(there.sum()) + self.objective.bit * self._bits([edit])
            if keys_without(self.state, edit) - len(self.state.keys) > spared:
                continue
            without = self.state.without(edit)
            if self._value(without) >= self._value(self.state):
                self.state = without
                lost = keys_of_lost(without)
                self.refused["needless in the end"] += 1

    def _bits(self, edits: Iterable[Edit]) -> float:
        return sum(self._proposed.get(edit.text, edit).bits for edit in edits)

    def _value(self, state: KeyState) -> float:
        """Return what a whole set is worth, beside others."""
        cost = self.objective.loss * lost_in(state) + self.objective.bit * self._bits(state.edits)
        return -len(state.keys) - cost


def learn_site(  # noqa: PLR0913 -- one for each thing that a person may say
    found: SiteClusters,
    evidence: PairEvidence | None = None,
    objective: Objective | None = None,
    seed: int = 0,
    *,
    given: Sequence[Rule] = (),
    is_unwanted: IsUnwanted | None = None,
) -> Learned:
    """Return the edits of one site; a pure function of what it is given.

    Args:
        found: Its clusters.
        evidence: Better evidence, over the distinct URLs that are seen.
        objective: What an edit is worth.
        seed: Another number draws other pages of a large site.
        given: Rules that are in use already: they come first, and the others are judged beside them.
        is_unwanted: Whether a rule, beside others, does what a person switched off.

    """
    site = Site.of(found, evidence, seed=seed)
    start = KeyState(site, tuple(Given(rule=rule) for rule in given))
    search = Search(start, objective or Objective(), is_unwanted)
    state = search.run()
    return Learned(
        found.site,
        state.edits,
        state.rules,
        search.candidates,
        dict(sorted(search.refused.items())),
        urls=len(site.urls),
        left=len(state.keys),
        pages=site.count,
        lost=lost_in(state),
    )
