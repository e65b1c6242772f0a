"""The search for the edits of a site: propose, judge, accept the best, propose again from where it led."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from undust.edits import KEEP, Given, Guard, Keep, ShapeParameter
from undust.judging import KeyState, effects
from undust.judging.effect import keys_of_lost, keys_without, lost_in, transition
from undust.proposing import PROPOSERS, WEIGHED_TOGETHER, SeenSite
from undust.proposing.idle_parts import is_plain
from undust.searching.doubts import RefusedEdit, doubt_about, more_wrong
from undust.searching.guards import EXCEPTIONS, Guards
from undust.searching.kinds import is_renaming
from undust.searching.objective import NOTHING_EXCUSED, Objective
from undust.searching.removed_texts import untested_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.edits import Edit
    from undust.judging import EditEffect
    from undust.rules import Rule
    from undust.searching.guards import Narrowed
    from undust.searching.objective import Worth
    from undust.searching.removed_texts import Excused

    Propose = Callable[[SeenSite], Iterable[Edit]]
    IsUnwanted = Callable[[Rule, Sequence[Rule]], bool]

ROUNDS, MOST_EDITS = 4, 80
_NARROWED, LEAST_NARROWED = 40, 5
"""Failing edits of a stage that are narrowed at most, those with most pages first; pages of each at least."""
_KEEPS = 3
"""Classes of unstable pages, at most."""
AHEAD = 8
"""This many of the next best are judged along with one that must be judged again."""
UNMET = 0.3
"""Where the direction is a choice, at most this share of what an edit writes was not seen."""
SAFEGUARDS = 3
"""So often guards are added to an edit that is right in company only."""
MERGED, TOO_FEW = "merged different pages", "too few pages to decide"
AGAINST = "works against another rule"
_KEPT = 0.5
"""The share of what an edit saves alone, kept to where it was seen, that it must save in company."""


@dataclass
class Search:
    """The search on one site."""

    state: KeyState
    objective: Objective = field(default_factory=Objective)
    is_unwanted: IsUnwanted | None = None
    """Whether a rule, beside others, does what a person switched off."""
    held: NDArray[np.bool_] | None = None
    """Pages from which nothing is proposed."""
    _refused: dict[str, RefusedEdit] = field(default_factory=dict)
    _off: set[str] = field(default_factory=set)
    """Edits that were taken or failed in company."""
    _known: dict[str, Edit] = field(default_factory=dict)
    """All edits that were proposed, each once: what it takes to say one is found out once."""
    _proposed: dict[str, Edit] = field(default_factory=dict)
    """What accepted edits were before they were kept to where they were seen to hold."""
    _failed: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Edits that hold nowhere, and what was known then: pages for and against each, classes of pages."""
    _asked: dict[tuple[Propose, ...], KeyState] = field(default_factory=dict)
    """The state from which each stage proposed last."""
    _looked: tuple[KeyState, SeenSite] | None = None
    _told: tuple[KeyState, dict[str, EditEffect]] | None = None
    """What edits would do to the state on which the last ones were judged."""
    _raw: KeyState | None = None
    """Where the URLs stand without any edit."""
    _guards: Guards = field(default_factory=Guards)

    def run(self) -> KeyState:
        """Return the state that no proposal improves, with unstable pages kept if that is worth it."""
        start = self.state
        self._keep_restless()
        if self.state is start:
            return self._searched()
        other = Search(start, self.objective, self.is_unwanted, self.held, _guards=self._guards)
        with_keeps, without = self._searched(), other._searched()
        self._proposed = other._proposed | self._proposed
        self._known = other._known | self._known
        self._refused = other._refused | self._refused
        self.state = max((with_keeps, without), key=self._value)
        return self.state

    def proposed_as(self, edit: Edit) -> Edit:
        """Return an accepted edit as it was before it was kept to where it was seen to hold."""
        return self._proposed.get(edit.text, edit)

    def _searched(self) -> KeyState:
        for _ in range(ROUNDS):
            before = self.state
            for stage in WEIGHED_TOGETHER:
                self._try(stage)
            if self.state is before:
                break
        self._prune()
        return self.state

    def _keep_restless(self) -> None:
        """Leave classes of pages alone that are another one at every fetch."""
        for _ in range(_KEEPS):
            some = (edit for propose in PROPOSERS[:2] for edit in self._seen().offered(propose))
            offered = [edit for edit in some if not edit.is_mask]
            found = self._guards.unstable(self.state, self._judged(offered))
            if not found:
                return
            for guard in found:
                self.state = self.state.with_edit(Keep(when=(guard,)))

    def _try(self, stage: tuple[Propose, ...]) -> None:
        """Accept the best of what some proposers offer, then what holds under guards."""
        if self._asked.get(stage) is self.state or self._is_full():
            return
        site = self.state.site.name
        proposed = (edit for propose in stage for edit in self._seen().offered(propose))
        some = (self._known.setdefault(edit.text, edit) for edit in proposed)
        offered = {edit.text: edit for edit in some if edit.text not in self._off}
        before = self.state
        judged = self._judged([edit for edit in offered.values() if edit.rules(site)])
        judged += effects(before, [*self._without_untested(judged), *self._where_seen(judged)])
        judged += self._turned(judged)
        worths = [self.objective.worth_having(effect) for effect in judged]
        for effect, worth in zip(judged, worths, strict=True):
            if worth is None and effect.saved:
                self._refuse(effect, MERGED if effect.lost else TOO_FEW)
        self._take(zip(judged, worths, strict=True))
        taken = self.state
        for effect in self._failing(judged, before):
            what_failed = effect.pages, effect.lost, self._guards.known
            if not self._is_full() and self._failed.get(effect.edit.text) != what_failed:
                self._narrow(effect, taken)
        self._asked[stage] = self.state

    def _is_full(self) -> bool:
        """Return whether there are as many edits as a site may have: then nothing is looked for."""
        return len(self.state.edits) >= MOST_EDITS

    def _failing(self, judged: Sequence[EditEffect], before: KeyState) -> list[EditEffect]:
        """Return edits that fail somewhere: those with most pages first, then those that move less.

        Where a renamed place differs from the other, they are two places, and what is equal there is so by
        chance.
        """
        some = [effect for effect in judged if effect.lost and effect.pages >= LEAST_NARROWED]
        some = [effect for effect in some if not is_renaming(effect.edit)]
        some.sort(key=lambda effect: (-effect.pages, effect.edit.text))
        some = some[: 2 * _NARROWED]
        if self.state is not before:
            some = effects(self.state, [effect.edit for effect in some])
        some.sort(key=lambda effect: (-effect.pages, self.objective.astray(effect), effect.edit.text))
        return [effect for effect in some if effect.lost and effect.pages >= LEAST_NARROWED][:_NARROWED]

    def _without_untested(self, judged: Sequence[EditEffect]) -> Iterator[Edit]:
        """Yield edits that keep away from the parameters that were not seen to be idle."""
        for effect in judged:
            if effect.lost > effect.pages or effect.pages < LEAST_NARROWED:
                continue
            untested = untested_parts(effect)
            if untested and len(untested) <= EXCEPTIONS and all(map(is_plain, untested)):
                guards = [Guard(query=(ShapeParameter(name),)) for name in sorted(untested)]
                edit = effect.edit.guarded(unless=guards)
                if len(edit.removes) > len(untested) or effect.edit.when:
                    yield from self._new(edit)

    def _where_seen(self, judged: Sequence[EditEffect]) -> Iterator[Edit]:
        """Yield edits that merge too much of which nothing is known, kept to where they merge known pages."""
        some = (each for each in judged if each.unseen and each.lost <= each.pages >= LEAST_NARROWED)
        for effect in some:
            if self.objective.worth_having(effect) is None:
                yield from self._new(self._reaching(effect))

    def _reaching(self, effect: EditEffect) -> Edit:
        """Return an edit that is kept to where it was seen to hold."""
        holds = partial(self.objective.holds_in_others, effect)
        return self._guards.reach(self.state, effect, holds_in_others=holds)

    def _turned(self, judged: Sequence[EditEffect]) -> list[EditEffect]:
        """Return what the inverses do of edits that lead away from what the site serves or prefers."""
        edits: list[Edit] = []
        for effect in judged:
            is_astray = not effect.met.all() or effect.against.any()
            if effect.lost > effect.pages or effect.pages < LEAST_NARROWED or not is_astray:
                continue
            if (turned := effect.edit.inverse()) is not None:
                edits += self._new(turned)
        found = effects(self.state, edits)
        led_away = {effect.edit.text for effect in judged if effect.against.any()}
        return [
            each
            for each in found
            if (~each.met).sum() <= UNMET * len(each.moved)
            or any(turned.text in led_away for turned in [each.edit.inverse()] if turned)
        ]

    def _new(self, edit: Edit) -> Iterator[Edit]:
        """Yield an edit that can be said and was not judged yet."""
        if edit.text not in self._known and edit.rules(self.state.site.name):
            self._known[edit.text] = edit
            yield edit

    def _seen(self) -> SeenSite:
        """Return what proposers look at; the same until the URLs stand elsewhere."""
        if self._looked is None or self._looked[0] is not self.state:
            self._looked = self.state, SeenSite(self.state, self.held)
        return self._looked[1]

    def _judged(self, edits: Sequence[Edit]) -> list[EditEffect]:
        """Return what edits would do as the URLs stand; those that were judged so are known."""
        if self._told is None or self._told[0] is not self.state:
            self._told = self.state, {}
        told = self._told[1]
        new = [edit for edit in edits if edit.text not in told]
        told |= {effect.edit.text: effect for effect in effects(self.state, new)}
        return [told[edit.text] for edit in edits]

    def _take(self, offered: Iterable[tuple[EditEffect, Worth | None]]) -> None:
        """Accept the best one after the other; what an edit is worth is seen anew after each."""
        judged: dict[str, EditEffect] = {}
        queue: list[tuple[float, str, int]] = []
        version = 0

        def add(effect: EditEffect, worth: Worth | None) -> None:
            if worth is not None:
                judged[effect.edit.text] = effect
                heapq.heappush(queue, (-worth.value, effect.edit.text, version))

        for effect, worth in offered:
            add(effect, worth)
        while queue and not self._is_full():
            _, text, seen = heapq.heappop(queue)
            if seen != version:
                # Those that come next will be asked for as well, most likely.
                ahead = [heapq.heappop(queue) for _ in range(min(AHEAD, len(queue)))]
                for each in (item for item in ahead if item[2] == version):
                    heapq.heappush(queue, each)
                again = [text, *(each[1] for each in ahead if each[2] != version)]
                for effect in effects(self.state, [judged[each].edit for each in again]):
                    add(effect, self.objective.worth_having(effect))
                continue
            if self._accept(judged[text]):
                version += 1

    def _accept(self, alone: EditEffect, excused: Excused = NOTHING_EXCUSED) -> bool:
        """Accept an edit, unless it does less together with the others than alone."""
        self._off.add(alone.edit.text)
        doubt = AGAINST if self._leads_back(alone.edit) else doubt_about(self.state, alone, self.objective)
        if doubt is not None:
            self._refuse(alone, doubt)
            return False
        alone = self._spared(alone, excused)
        edit, reaching = alone.edit, self._safe(self._reaching(alone))
        if reaching is None or self._is_switched_off(reaching):
            self._refuse(alone, "was switched off" if reaching else "is right in company only")
            return False
        after = self.state.with_edit(reaching)
        together = transition(self.state, after, edit)
        reached = alone if reaching.when == edit.when else effects(self.state, [reaching])[0]
        if together.saved < max(1.0, _KEPT * reached.saved) or not self.objective.worth_having(
            together, excused
        ):
            self._refuse(alone, AGAINST)
            return False
        self.state = after
        self._proposed[reaching.text] = edit
        self._guards.learn_from(edit)
        return True

    def _leads_back(self, edit: Edit) -> bool:
        """Return whether an edit undoes one that was accepted."""
        turned = edit.inverse()
        if turned is None:
            return False
        return any(turned.text in {each.text, self.proposed_as(each).text} for each in self.state.edits)

    def _spared(self, effect: EditEffect, excused: Excused) -> EditEffect:
        """Return an edit with exceptions where its few failures lie together, if that is worth more."""
        if not effect.lost:
            return effect
        trials = self._guards.exceptions(self.state, effect)
        said = [trial for trial in trials if trial.edit.rules(self.state.site.name)]
        best, most = effect, self.objective.worth(effect, excused).value
        for each, trial in zip(effects(self.state, [t.edit for t in said], effect.moved), said, strict=True):
            worth = self.objective.worth_having(each, excused.with_more(trial.excused))
            if worth is not None and worth.value > most:
                best, most = each, worth.value
        return best

    def _refuse(self, effect: EditEffect, reason: str) -> None:
        """Note why an edit was not taken; what is refused twice keeps its last reason."""
        self._refused[effect.edit.text] = RefusedEdit(
            effect.edit, reason, effect.pages, effect.lost, effect.saved
        )

    def refused(self) -> tuple[RefusedEdit, ...]:
        """Return the edits that were not taken, as far as they would do anything."""
        taken = {edit.text for edit in self.state.edits}
        taken |= {self.proposed_as(edit).text for edit in self.state.edits}
        return tuple(each for text, each in sorted(self._refused.items()) if text not in taken)

    @property
    def candidates(self) -> int:
        """How many edits were proposed, each once."""
        return len(self._known)

    def _is_switched_off(self, edit: Edit) -> bool:
        """Return whether an edit does what a person switched off."""
        if self.is_unwanted is None:
            return False
        rules = edit.rules(self.state.site.name) or ()
        return any(self.is_unwanted(rule, self.state.rules) for rule in rules)

    def _safe(self, edit: Edit) -> Edit | None:
        """Return an edit that merges no pages without the others either, under more guards if need be."""
        raw = self.state.kept_only
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
            worths = self._narrowed(effect)
            if not worths:
                self._failed[edit.text] = effect.pages, effect.lost, self._guards.known
                return
            if not self._accept(*max(worths, key=lambda found: found[:2])[2:]):
                return

    def _narrowed(self, effect: EditEffect) -> list[tuple[float, str, EditEffect, Excused]]:
        """Return what an edit is worth under guards, chosen by half of the pages and tested by the others."""
        site = self.state.site
        found: dict[str, list[tuple[Narrowed, bool]]] = {}
        for half in (False, True):
            chosen = effect.among(site.half[effect.page] == half)
            for trial in self._guards.where_it_holds(self.state, effect, LEAST_NARROWED // 2, chosen):
                if trial.edit.text not in self._off and trial.edit.rules(site.name):
                    found.setdefault(trial.edit.text, []).append((trial, half))
        judged = effects(self.state, [some[0][0].edit for some in found.values()], effect.moved)
        worths = []
        for each, some in zip(judged, found.values(), strict=True):
            trial, half = some[0]
            # Guards that both halves choose were tested by both.
            unseen = each if len(some) > 1 else each.among(site.half[each.page] != half)
            excused = trial.excused._replace(pages=trial.excused.pages + more_wrong(each, unseen))
            if (worth := self.objective.worth_having(each, excused)) is not None:
                worths.append((worth.value, each.edit.text, each, excused))
        return worths

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

    def _bits(self, edits: Iterable[Edit]) -> float:
        return sum(self._proposed.get(edit.text, edit).bits for edit in edits)

    def _value(self, state: KeyState) -> float:
        """Return what a whole set is worth, beside others."""
        cost = self.objective.loss * lost_in(state) + self.objective.bit * self._bits(state.edits)
        return -len(state.keys) - cost
