"""Standard normalization: what it does, step by step, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.urls.hostile import unescaped
from undust import normalize
from undust.urls import STEPS, steps_without

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "normalize.tsv"


def golden_rows() -> list[tuple[str, str, str]]:
    """Return (text, normal form, reason) of each line of the golden file."""
    rows = []
    for line in GOLDEN.read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            text, expected, reason = line.split("\t")
            rows.append((unescaped(text), unescaped(text if expected == "=" else expected), reason))
    return rows


@pytest.mark.parametrize(("text", "expected", "reason"), golden_rows(), ids=lambda value: repr(value)[:60])
def test_golden(text: str, expected: str, reason: str) -> None:
    """Each pair of the golden file holds, and the normal form is its own normal form."""
    assert normalize(text) == expected, reason
    assert normalize(expected) == expected


def test_golden_file_has_every_text_once() -> None:
    """No line of the golden file repeats another, so that none hides a contradiction."""
    texts = [text for text, _, _ in golden_rows()]
    assert sorted(texts) == sorted(set(texts))


LOUD = "HTTP://u%41@EX%C3%84MPLE.com:080/%7e/b|/../c?%5f|#%41|"
WITHOUT = {
    "case": "HTTP://uA@xn--exmple-cua.com/~/c?_%7C",
    "host": "http://uA@ex%c3%84mple.com/~/c?_%7C",
    "triplets": "http://u%41@xn--exmple-cua.com/%7e/c?%5f%7C",
    "forbidden": "http://uA@xn--exmple-cua.com/~/c?_|",
    "dots": "http://uA@xn--exmple-cua.com/~/b%7C/../c?_%7C",
    "empty-path": "http://uA@xn--exmple-cua.com/~/c?_%7C",
    "port": "http://uA@xn--exmple-cua.com:080/~/c?_%7C",
    "fragment": "http://uA@xn--exmple-cua.com/~/c?_%7C#A%7C",
}


def test_every_step_has_its_test() -> None:
    """The steps that can be left out are those tested here, in the order of their bits."""
    assert list(STEPS) == list(WITHOUT)


@pytest.mark.parametrize("step", WITHOUT)
def test_a_step_left_out(step: str) -> None:
    """A step that is left out leaves its part of the URL as written, and nothing else."""
    assert normalize(LOUD, skip=[step]) == WITHOUT[step]
    assert normalize(LOUD, skip=step) == WITHOUT[step], "one name needs no list"


@pytest.mark.parametrize(
    ("url", "step", "expected"),
    [
        ("http://h?q", "empty-path", "http://h?q"),
        ("http://h#f", "empty-path", "http://h"),
        ("http://h:/", "port", "http://h:/"),
        ("http://h:00/", "port", "http://h:00/"),
        ("http://[::0001]/", "host", "http://[::0001]/"),
        ("http://0x7F.1/", "host", "http://0x7f.1/"),
        ("http://0X7F.1/", "case", "http://127.0.0.1/"),
        ("http://Ü.Example/", "case", "http://xn--tda.example/"),
        ("http://h/%2e%2e/a", "triplets", "http://h/%2e%2e/a"),
        ("http://h/%2e%2e/a", "dots", "http://h/../a"),
        ("http://h/a b", "forbidden", "http://h/a b"),
        ("http://h/a #f", "forbidden", "http://h/a"),
        ("http://h/a/. #f", "forbidden", "http://h/a/"),
        ("http://h/%%34%31", "forbidden", "http://h/%%341"),
        ("http://h/%4%31", "forbidden", "http://h/%4%31"),
        ("http://h/%4z%31", "forbidden", "http://h/%4z1"),
        ("http://h/a\\b", "forbidden", "http://h/a/b"),
        (" http:\\\\h/ ", "forbidden", "http://h/"),
    ],
)
def test_steps_that_meet(url: str, step: str, expected: str) -> None:
    """Where two steps meet, leaving one out still gives a text that is its own normal form."""
    assert normalize(url, skip=[step]) == expected
    assert normalize(expected, skip=[step]) == expected


def test_without_any_step_only_the_shape_is_repaired() -> None:
    """With every step left out, only what a browser needs to read the text is changed."""
    url = " HTTP:\\\\u@EX\tAMPLE.com:080\\%7e\\..?|\\#|"
    assert normalize(url, skip=STEPS) == "HTTP://u@EXAMPLE.com:080/%7e/..?|\\#|"


def test_no_step_decides_what_a_url_is() -> None:
    """What is no URL with all steps is none without them."""
    for text in ("http://a b/", "http://256.1.1.1/", "http://[1::2::3]/", "http://%zz/", "http://\u00ad/"):
        for step in STEPS:
            assert normalize(text, skip=[step]) == text


def test_unknown_step_is_named_with_the_known_ones() -> None:
    """A misspelled step is an error that lists the steps."""
    with pytest.raises(
        ValueError, match=r"unknown normalization step 'prot'; the steps are case, .*fragment"
    ):
        normalize("http://h/", skip=["prot"])


def test_steps_are_bits_in_order() -> None:
    """Each name stands for one bit of the core, in the order in which they are listed."""
    everything = steps_without(())
    assert [everything ^ steps_without([name]) for name in STEPS] == [1 << bit for bit in range(len(STEPS))]
    assert everything == (1 << len(STEPS)) - 1


def test_unchanged_text_is_the_same_object() -> None:
    """A URL in normal form, and what is no URL, costs no copy."""
    for text in ("http://h/" + "a" * 99, "no url " * 9):
        assert normalize(text) is text


def test_lone_surrogates_are_no_url() -> None:
    """A text that no byte sequence can hold comes back as it was."""
    assert normalize("http://h/\ud800") == "http://h/\ud800"


def test_long_texts() -> None:
    """Megabytes in any part are normalized like bytes."""
    many = 1_000_000
    assert normalize(f"http://h/{'a' * many}/..") == "http://h/"
    assert normalize(f"http://h/{'../' * many}x") == "http://h/x"
    assert normalize(f"http://h/?{'%7e' * many}") == f"http://h/?{'~' * many}"
    assert normalize(f"http://{'a.' * many}b/") == f"http://{'a.' * many}b/"
    assert normalize(f"http:{'/' * many}h") == "http://h/"
    assert normalize(f"http://h:{'0' * many}80/") == "http://h/"
    assert normalize(f"http://{'1.' * many}1/") == f"http://{'1.' * many}1/"
