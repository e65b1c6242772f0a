"""What the words that a rule writes say about where it leads."""

from __future__ import annotations

import pytest

from undust.rules import Rule
from undust.rules.verdict import language_written, name_other_form, prefers_lesser_form


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rewrite {s}://{h}/guide/{id:int} → {s}://{h}/print.php?id={id}", True),
        ("rewrite {s}://{h}/{p**} → {s}://m.a.test/{p}", True),
        ("rewrite {s}://{h}/{p**}/feed/ → {s}://{h}/{p}/", False),
        ("rewrite {s}://{h}/{a}/print → {s}://{h}/print/{a}", False),
        ("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}", False),
        ("rewrite {s}://{h}/a/{id:int} → {s}://{h}/imprint/{id}", False),
    ],
)
def test_lesser_forms(text: str, expected: bool) -> None:  # noqa: FBT001 -- a table of answers
    """A printer's, mobile or feed form is not written for the plain one."""
    assert prefers_lesser_form(Rule.parse(text, site="a.test")) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rewrite {s}://{h}/docs/2.4/{a}/{b} → {s}://{h}/manual/ru/{a}/{b}", "ru"),
        ("rewrite {s}://{h}/manual/de/{a} → {s}://{h}/manual/{a}", None),
        ("rewrite {s}://{h}/manual/da/{a}.html.fr → {s}://{h}/manual/fr/{a}", None),
        ("rewrite {s}://{h}/{a}.html → {s}://{h}/{a}.html.fr", "fr"),
        ("rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?hl=pt-BR&{rest}", "pt"),
        ("rewrite {s}://a.test/{p**} → {s}://shop.de/{p}", None),
        ("rewrite {s}://{h}/py3/{a} → {s}://{h}/python/{a}", None),
        ('replace "/manual/es/" → "/manual/ru/"', "ru"),
        ("keep {s}://{h}/ru/{p**}", None),
    ],
)
def test_languages(text: str, expected: str | None) -> None:
    """A code of a language that only the right side has; the end of a host is a country."""
    assert language_written(Rule.parse(text, site="a.test")) == expected


@pytest.mark.parametrize(
    ("written", "read", "expected"),
    [
        (["da"], ["manual", "en"], True),
        (["manual", "en"], ["docs"], True),
        (["print"], ["show"], True),
        (["fr"], [".html.fr"], False),
        (["docs", "2.4"], ["manual", "de"], False),
        ([], ["print", "de"], False),
    ],
)
def test_words_of_other_forms(written: list[str], read: list[str], expected: bool) -> None:  # noqa: FBT001
    """A printer's form, or a language that nothing read names."""
    assert name_other_form(written, read) is expected
