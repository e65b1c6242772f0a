"""What normalization promises for every text there is."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.laws.texts import texts, usual_urls
from tests.oracles import normalize as twin
from tests.urls.hostile import hostile_urls
from undust import _core, normalize
from undust.urls import STEPS, Url

TRIPLET = "%[0-9A-F]{2}"
PCHAR = f"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|{TRIPLET})"
RFC_3986 = re.compile(
    "https?://"
    f"(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|{TRIPLET})*@)?"
    r"(?:\[[0-9a-f:]+\]|[a-z0-9._~!$&'()*+,;=-]+)"
    "(?::(?:0|[1-9][0-9]{0,4}))?"
    f"(?:/{PCHAR}*)+"
    rf"(?:\?(?:{PCHAR}|[/?])*)?",
)
"""An http(s) URL in normal form by the grammar of RFC 3986, with a path and without a fragment."""


def is_url(text: str) -> bool:
    """Return whether the core took the text for a URL."""
    return Url.parse(text) is not None


@given(texts())
@example("http://h/a/. #f")
@example("http://h/%%34%31")
@example("http://h/.%2e/%2E./x")
def test_normalize_is_idempotent(text: str) -> None:
    """A normal form is its own normal form."""
    once = normalize(text)
    assert normalize(once) == once


@given(texts(), st.sets(st.sampled_from(sorted(STEPS))))
@example("http://h/a/. #f", {"forbidden"})
@example("http://h/%%34%31", {"forbidden"})
@example("http://h/%4%31", {"forbidden"})
def test_idempotent_whatever_steps_are_left_out(text: str, skip: set[str]) -> None:
    """Leaving out any steps keeps normalization idempotent."""
    once = normalize(text, skip=skip)
    assert normalize(once, skip=skip) == once


def test_every_subset_of_steps_is_idempotent() -> None:
    """Each of the 256 sets of steps is idempotent, on texts chosen to upset it."""
    for text in hostile_urls(3000, seed=1):
        for steps in range(_core.ALL_STEPS + 1):
            once = _core.normalize_url(text, steps)
            assert _core.normalize_url(once, steps) == once, (text, steps)


@given(texts())
def test_what_is_no_url_is_not_changed(text: str) -> None:
    """A text that is no http(s) URL comes back as it was, whatever the steps; its normal form stays one."""
    assert is_url(normalize(text)) == is_url(text)
    if not is_url(text):
        assert normalize(text) == normalize(text, skip=STEPS) == text


@given(texts())
def test_parsing_loses_nothing(text: str) -> None:
    """Printing an unchanged URL gives the text that was parsed."""
    url = Url.parse(text)
    assert url is None or str(url) == text


@given(texts())
def test_a_normal_form_obeys_rfc_3986(text: str) -> None:
    """A normal form is ASCII, fits the grammar, and has nothing left to decode or remove."""
    if not is_url(text):
        return
    url = normalize(text)
    assert RFC_3986.fullmatch(url), url
    path = url.partition("?")[0].split("/", 3)[3]
    assert not {".", ".."} & set(path.split("/"))
    assert not re.search(r"%(?:2D|2E|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)", url)


@given(texts())
@example("http://אב.;example")
def test_agrees_with_its_slow_twin(text: str) -> None:
    """The core and the plain twin, written apart from each other, give the same answer."""
    # The twin asks Python about letters, and an older Python does not know the newest.
    assume(all(unicodedata.category(character) != "Cn" for character in text))
    assert normalize(text) == twin.normalize(text)


def test_agrees_with_its_slow_twin_on_many() -> None:
    """The same, on more texts than hypothesis tries."""
    for text in hostile_urls(25_000, seed=2):
        assert normalize(text) == twin.normalize(text), text


@given(texts())
def test_white_space_around_does_not_count(text: str) -> None:
    """A URL with white space around it has the normal form that it has without."""
    if is_url(text):
        assert normalize(f" \t{text}\r\n ") == normalize(text)


@given(usual_urls())
def test_spellings_that_mean_the_same(text: str) -> None:
    """Upper case, a default port, an encoded letter, a dot segment and a fragment change no normal form."""
    url = Url.parse(normalize(text))
    assert url is not None
    scheme, host, rest = url.scheme, url.host, url.path + ("" if url.query is None else f"?{url.query}")
    user = "" if url.userinfo is None else f"{url.userinfo}@"
    port = (":443" if scheme == "https" else ":80") if url.port is None else f":0{url.port}"
    encoded = re.sub("(?<!%)(?<!%.)[a-z~]", lambda letter: f"%{ord(letter[0]):02x}", rest)
    spelling = f"{scheme.upper()}:\\\\{user}{host.upper()}{port}/x/.%2E/.{encoded}#{rest}"
    assert normalize(spelling) == str(url)


@given(usual_urls())
def test_only_equivalent_urls_share_a_normal_form(text: str) -> None:
    """Order of parameters, empty segments, trailing slashes and `www` survive."""
    url = normalize(text)
    base, mark, query = url.partition("?")
    others = {
        f"{base}/{mark}{query}",
        url.replace("://", "://www.", 1) if "@" not in url and "[" not in url else f"{base}//{mark}{query}",
        f"{url}&" if mark else f"{url}?",
    }
    for other in others:
        if is_url(other):
            assert normalize(other) != url
