"""What an edit says, forgets and makes up; how it is turned, opened and closed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.edits import Edit, Guard, Keep, Rewrite, Shape, ShapeCapture, ShapeParameter, making, shape_from
from undust.rules import Rule, program_of

SITE = "s.test"
GUARD = Guard(path=(("a",), (ShapeCapture(is_many=True),)))
EDITS: dict[str, Edit] = {
    "a parameter": making.dropped("sid"),
    "a family of parameters": making.dropped("utm_*"),
    "parameters together": making.dropped_together("a", "b"),
    "a default": making.dropped_value("page", "1"),
    "a parameter without a value": making.dropped_value("x", None),
    "all but some": making.only("id"),
    "a mask": making.masked("sid", "ts"),
    "the order": making.respelled("sorted"),
    "the case": making.respelled("lower", path=True),
    "the scheme": making.scheme_to("https"),
    "a host": making.host_to("www.s.test", "s.test"),
    "a slash": making.without_slash(),
    "an index page": making.last_segment_dropped("index.html", slash=True),
    "an ending": making.ending_dropped(".html"),
    "a folder": making.first_segment_dropped("en"),
    "zeros": making.unpadded(Shape(path=(("item",), (ShapeCapture("n", "int"),)))),
    "the order in a value": making.swapped_inside("t", "+"),
    "a piece of text": making.swapped("&amp;", "&"),
    "semicolons": making.separated_by_ampersands(making.dropped("sort")),
    "what is kept": Keep(when=(GUARD,)),
}
LINES = [edit for name, edit in EDITS.items() if name != "semicolons"]
WORDS = st.sampled_from(["a", "b", "en", "item", "007", "x.html", "index.html", ""])
VALUES = st.sampled_from(["1", "2", "a+b", "b+a", "9f86d0818"])
PARAMETERS = st.lists(
    st.tuples(st.sampled_from(["sid", "ts", "page", "id", "t", "utm_a", "sort"]), VALUES), max_size=3
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """URLs that the edits have something to say about."""
    path = "/".join(draw(st.lists(WORDS, min_size=1, max_size=3)))
    query = "&".join(f"{name}={value}" for name, value in draw(PARAMETERS))
    host = draw(st.sampled_from(["s.test", "www.s.test"]))
    return f"http://{host}/{path}{'?' * bool(query)}{query}"


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_said_in_the_rule_language(name: str) -> None:
    """Every edit is a rule, or several, whose text is the edit's own."""
    rules = EDITS[name].rules(SITE)
    assert rules
    assert "; ".join(map(str, rules)) == EDITS[name].text
    for rule in rules:
        assert str(Rule.parse(str(rule), site=SITE)) == str(rule)


@pytest.mark.parametrize("name", EDITS)
def test_guards_make_an_edit_longer_and_can_be_taken_off(name: str) -> None:
    """A guard is one step more special; one step back is the edit without it."""
    plain = EDITS[name]
    other = Guard(query=(ShapeParameter("lang"),))
    closed = plain.guarded(when=[other])
    assert closed.bits > plain.bits
    assert plain in list(closed.more_general())
    assert closed.guarded(when=[other]) == closed


def test_what_is_forgotten_and_made_up() -> None:
    """An edit names what must have varied, and the words that it writes without having read them."""
    assert making.dropped("sid").removes == ("sid",)
    assert making.masked("sid", "ts").removes == ("sid", "ts")
    assert making.dropped_value("page", "1").removes == ()
    assert making.only("id").removes == ("rest",)
    assert making.host_to("m.s.test", "s.test").makes_up == ("s.test",)
    assert making.swapped("/?", "/item/").makes_up == ("/item/",)
    assert making.dropped("sid").makes_up == ()


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("a parameter", "drop"),
        ("a default", "drop"),
        ("a mask", "mask"),
        ("the order", "respell"),
        ("the case", "respell"),
        ("the scheme", "write"),
        ("a host", "write"),
        ("a piece of text", "swap"),
        ("what is kept", "keep"),
    ],
)
def test_operations(name: str, operation: str) -> None:
    """What an edit does follows from its two sides."""
    assert EDITS[name].operation == operation


def test_a_move_is_told_from_a_write() -> None:
    """What was captured in one part of the URL and is written in another has moved."""
    source, target = shape_from("{s}://{h}/show?id={a:int}&{rest**}"), shape_from("{s}://{h}/item/{a}?{rest}")
    assert Rewrite(source=source, target=target).operation == "move"


@pytest.mark.parametrize("name", EDITS)
def test_the_inverse_of_the_inverse_is_the_edit(name: str) -> None:
    """Where nothing is forgotten an edit can be turned, and turned back."""
    edit = EDITS[name]
    turned = edit.inverse()
    if edit.removes or turned is None:
        assert turned is None
    else:
        assert turned.inverse() == edit


def test_an_inverse_leads_back() -> None:
    """Both directions of one edit know the same pairs of URLs."""
    edit = making.host_to("www.s.test", "s.test")
    turned = edit.inverse()
    assert turned is not None
    url = "http://www.s.test/a?b=1"
    there = program_of(edit.rules(SITE) or ()).canonical(url)
    assert program_of(turned.rules(SITE) or ()).canonical(there) == url


@given(st.sampled_from(LINES), urls())
def test_what_is_more_general_does_at_least_as_much(edit: Edit, url: str) -> None:
    """Whatever an edit changes under a guard, it changes without it in the same way."""
    closed = edit.guarded(when=[GUARD])
    narrow = program_of(closed.rules(SITE) or ()).matches(url)
    for wider in closed.more_general():
        if wider.rules(SITE):
            wide = program_of(wider.rules(SITE) or ()).matches(url)
            assert [text for _, text in narrow] in ([], [text for _, text in wide])


@given(st.sampled_from(LINES), urls())
def test_a_mask_changes_keys_only(edit: Edit, url: str) -> None:
    """The canonical URL is the same with and without a mask."""
    program = program_of(edit.rules(SITE) or ())
    if edit.is_mask:
        assert program.canonical(url) == program_of(()).canonical(url)


@pytest.mark.parametrize("value", ["77de68daecd823babbb58edb1c8e14d7", "joe@a.test"])
def test_nobodys_own_value_is_said(value: str) -> None:
    """A visitor's value stands in no rule, on neither side and in no guard."""
    assert making.dropped_value("sid", value).rules(SITE) is None
    assert making.swapped("/x", f"/{value}").rules(SITE) is None
    guard = Guard(query=(ShapeParameter("u", (value,)),))
    assert making.dropped("page").guarded(when=[guard]).rules(SITE) is None


@pytest.mark.parametrize(
    "text",
    [
        "{s}://{h}/{p**}?{rest**}",
        "http://www.a.test/x/{a}-{b:int}.html",
        "{s}://{u}.a.test/{p**}?x={v}&y&z=&{**:utm_*|sid}&{rest**}",
    ],
)
def test_shapes_are_read_as_they_are_written(text: str) -> None:
    """Reading a pattern and printing it gives the pattern."""
    assert str(shape_from(text)) == text
