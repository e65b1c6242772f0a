"""What speaks against an edit though all pages that it brings together are one: where else to look.

A folder that has the pages of another is another one all the same where other pages of the two differ.
A number that is removed as a default may be one of many that do nothing on short lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undust.edits import Given, making
from undust.edits.places import whole_places
from undust.judging import effects
from undust.judging.default_numbers import OtherNumbers
from undust.judging.effect import SUPPORTS
from undust.proposing import parts_of
from undust.searching.kinds import is_renaming

if TYPE_CHECKING:
    from undust.edits import Edit
    from undust.judging import EditEffect, KeyState
    from undust.searching.objective import Objective

TWO_PLACES = "the two places differ elsewhere"
SHORT_LISTS = "any number does nothing on these pages, and not on others"


def doubt_about(state: KeyState, effect: EditEffect, objective: Objective) -> str | None:
    """Return why an edit is not to be trusted, or None."""
    if not _is_one_place(state, effect.edit, objective):
        return TWO_PLACES
    return None if _is_default(state, effect, objective) else SHORT_LISTS


def _is_one_place(state: KeyState, edit: Edit, objective: Objective) -> bool:
    """Return whether two places that an edit gives one name are one wherever both were seen."""
    rules = edit.rules(state.site.name) if is_renaming(edit) else None
    whole = whole_places(rules[-1]) if rules else None
    if whole is None:
        return True
    (effect,) = effects(state, [Given(rule=whole)])
    return effect.lost <= objective.most * (effect.lost + effect.pages)


def _is_default(state: KeyState, effect: EditEffect, objective: Objective) -> bool:
    """Return whether numbers that an edit removes as defaults are so, and lists are not just short."""
    edit = effect.edit
    for name in sorted(name for name, value in edit.defaults.items() if value.isdigit()):
        every = making.dropped(name).guarded(when=edit.when, unless=edit.unless)
        (whole,) = effects(state, [every])
        others = _other_numbers(effect, whole, name)
        if not others.confirm(objective.least_pages):
            wrong = effect.wrong + others.telling
            if not objective.may_drop_numbers(every, effect.distinct_pages, wrong):
                return False
    return True


def _other_numbers(default: EditEffect, whole: EditEffect, name: str) -> OtherNumbers:
    """Return what other values do, from what the removal of one value does, and of all."""
    usual = default.edit.defaults[name]
    is_other = np.array(
        [
            any(_value(whole.texts[image], name) not in {None, usual} for image in sides)
            for sides in zip(whole.left.tolist(), whole.right.tolist(), strict=True)
        ],
        np.bool_,
    )
    differ = np.unique(whole.group[is_other & (whole.ratios < 0)])
    votes = default.ratios >= SUPPORTS
    same = np.union1d(default.left[votes], default.right[votes])
    agree = np.unique(whole.group[np.isin(whole.left, same) | np.isin(whole.right, same)])
    return OtherNumbers(
        len(np.unique(whole.page[is_other & (whole.ratios >= SUPPORTS)])),
        len(differ),
        len(np.intersect1d(differ, agree)),
    )


def _value(url: str, name: str) -> str | None:
    found = (parameter.partition("=") for parameter in parts_of(url).query)
    return next((value for each, _, value in found if each == name), None)
