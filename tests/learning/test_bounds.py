"""The bound of one rule, from all that is known of rules like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from undust.learning.bounds import kind_and_bits, with_bounds
from undust.learning.rule_evidence import COUNTED, Record
from undust.rules import Rule
from undust.statistics import most_of_mixture, upper_bound, upper_of_mixture

BASE = "rewrite {s}://{h}/{p**}?"


def rule(text: str, right: int, wrong: int = 0, example: str = "", left_out: float = 0.0) -> Rule:
    """A rule with pages that were counted for it and against it."""
    record = replace(Record(), pages=right, lost=wrong, left_out=left_out)
    made = Rule.parse(text, site="a.test")
    return replace(made, extra={COUNTED: record.to_json()}, examples=((example, example),) if example else ())


def drop(name: str, right: int, wrong: int = 0) -> Rule:
    """A rule that removes a parameter of random texts."""
    value = "9f86d081884c7d65"
    text = f"{BASE}{name}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
    return rule(text, right, wrong, f"http://a.test/x?{name}={value}")


@pytest.mark.parametrize(
    ("text", "example", "kind"),
    [
        (
            f"{BASE}token={{**}}&{{r**}} → {{s}}://{{h}}/{{p}}?{{r}}",
            "http://a.test/?token=9f86d081884c",
            "drop random",
        ),
        (f"{BASE}sid={{**}}&{{r**}} → {{s}}://{{h}}/{{p}}?{{r}}", "http://a.test/?sid=7", "drop visit"),
        (f"{BASE}{{**:utm_*}}&{{r**}} → {{s}}://{{h}}/{{p}}?{{r}}", "", "drop visit"),
        (f"{BASE}page={{**}}&{{r**}} → {{s}}://{{h}}/{{p}}?{{r}}", "http://a.test/?page=2", "drop number"),
        ("rewrite {s}://{h}/{p**}?{r**} → {s}://{h}/{p}?{r:sorted}", "", "respell order"),
        ("rewrite {s}://{h}/{p**}?{r**} → {s}://{h}/{p:lower}?{r}", "", "respell case"),
        ("rewrite {s}://{h}/{a:int}/{p**} → {s}://{h}/{a:any}/{p}", "", "mask number"),
        ("rewrite {s}://www.a.test/{p**}?{rest**} → {s}://a.test/{p}?{rest}", "", "write host"),
        ('replace ".php3?" → "?"', "", "drop nothing"),
    ],
)
def test_kinds_are_read_from_rules(text: str, example: str, kind: str) -> None:
    """What a rule does, and what the texts that it removes look like."""
    assert kind_and_bits(rule(text, 1, 0, example))[0] == kind
    guarded = replace(rule(text, 1, 0, example), when=("?x",))
    assert kind_and_bits(guarded)[0] == f"{kind} under guards"


def test_the_bound_is_below_that_of_its_pages_alone_and_follows_them() -> None:
    """More pages that are right lower it, one that is wrong raises it."""
    few, many, failing = (
        with_bounds([one])[0].fpr_upper for one in (drop("a", 12), drop("a", 400), drop("a", 12, 3))
    )
    assert few is not None
    assert many is not None
    assert failing is not None
    assert many < few < upper_bound(0, 12)
    assert few < failing


@pytest.mark.parametrize(("when", "unless"), [(("?x",), ()), ((), ("?x",))])
def test_pages_that_conditions_were_chosen_on_prove_less(
    when: tuple[str, ...], unless: tuple[str, ...]
) -> None:
    """Where a rule failed without them, it passed its tests by them: what is stated is more."""
    plain = drop("a", 30)
    guarded = replace(plain, when=when, unless=unless)
    more, less = (with_bounds([one])[0].fpr_upper for one in (guarded, plain))
    assert more is not None
    assert less is not None
    assert more > 1.5 * less


def test_pages_that_conditions_leave_out_raise_the_bound() -> None:
    """One that counts half counts more than none, and less than one that is lost."""
    text = f"{BASE}sid={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
    none, half, one = (
        with_bounds([each])[0].fpr_upper or 1.0
        for each in (rule(text, 100), rule(text, 100, left_out=0.5), rule(text, 100, 1))
    )
    assert none < half < one


def test_rules_of_the_same_kind_on_a_site_support_each_other() -> None:
    """Beside six that are right on many pages, one with few pages is more likely right than alone."""
    (alone,) = with_bounds([drop("a", 2)])
    beside = with_bounds([drop("a", 2), *(drop(f"b{n}", 300) for n in range(6))])[0]
    assert beside.fpr_upper is not None
    assert alone.fpr_upper is not None
    assert beside.fpr_upper < alone.fpr_upper


def test_rules_without_counted_pages_stay_as_they_are() -> None:
    """What a person wrote has no bound."""
    written = Rule.parse('replace ".php3?" → "?"', site="a.test")
    assert with_bounds([written]) == (written,)


def test_mixtures() -> None:
    """A mixture of one distribution is that distribution, and a doubtful part widens it."""
    assert upper_of_mixture([(1.0, 1.0, 300.0)]) == pytest.approx(upper_bound(0, 300), rel=1e-6)
    sure, doubtful = (1.0, 0.2, 300.0), (0.1, 5.0, 5.0)
    assert upper_of_mixture([(0.9, *sure[1:]), doubtful]) > upper_of_mixture([sure])
    assert most_of_mixture([(0.9, *sure[1:]), doubtful], 20) > most_of_mixture([sure], 20) == 0
    assert most_of_mixture([sure], 0) == 0
