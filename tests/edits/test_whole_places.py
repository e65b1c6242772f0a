"""The two places, as a whole, of which a rule gives one the name of the other."""

from __future__ import annotations

import pytest

from undust.edits import whole_places
from undust.rules import Rule

GERMAN = "rewrite {s}://{h}/manual/de/{p**}?{rest**} → {s}://{h}/docs/2.4/{p}?{rest}"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("rewrite {s}://{h}/manual/de/{a}/{b}?{rest**} → {s}://{h}/docs/2.4/{a}/{b}?{rest}", GERMAN),
        ("rewrite http://a.test/manual/de/{a:word} → http://a.test/docs/2.4/{a}", GERMAN),
        ("rewrite {s}://{h}/manual/de/mod/{a} → {s}://{h}/docs/2.4/mod/{a} when /{**}/mod_{*}", GERMAN),
        ('replace "^http://a.test/manual/de/mod/mod_" → "^http://a.test/docs/2.4/mod/mod_"', GERMAN),
        # Nothing of these is the name of a place beside that of another.
        ("rewrite {s}://{h}/manual/de/{a} → {s}://{h}/docs/2.4/{a}.html.de", None),
        ("rewrite {s}://{h}/{a}/de/{b} → {s}://{h}/{a}/en/{b}", None),
        ("rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}", None),
        ("rewrite {s}://{h}/about → {s}://{h}/imprint", None),
        ('replace "/manual/de/" → "/docs/2.4/"', None),
        ("keep {s}://{h}/manual/de/{p**}", None),
    ],
)
def test_a_rule_names_two_places(text: str, whole: str | None) -> None:
    """Whatever a rule says of folders behind the names, and under which conditions."""
    found = whole_places(Rule.parse(text, site="a.test"))
    assert (None if found is None else str(found)) == whole
