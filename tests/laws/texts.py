"""The texts that the laws of URLs are tried on."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.strategies import hostile_urls, urls
from tests.urls import hostile


def texts() -> st.SearchStrategy[str]:
    """Return anything that could be met where a URL is expected."""
    return st.one_of(urls(), pieced_urls(), pieced_urls(), hostile_urls(), st.text(max_size=20))


def columns(max_size: int = 8) -> st.SearchStrategy[list[str | None]]:
    """Return rows for an Arrow column: texts that UTF-8 can hold, and nulls."""
    return st.lists(st.one_of(st.none(), storable_texts()), max_size=max_size)


def storable_texts() -> st.SearchStrategy[str]:
    """Return any text without lone surrogates."""
    return texts().filter(lambda text: "\ud800" not in text)


def pieced_urls() -> st.SearchStrategy[str]:
    """Return a URL put together from parts each of which has gone wrong somewhere."""
    segments = st.lists(st.sampled_from(hostile.PIECES), max_size=4)
    queries = st.lists(st.sampled_from(hostile.QUERIES), min_size=1, max_size=3).map("&".join)
    return st.builds(
        lambda *parts: "".join(parts),
        st.sampled_from(hostile.SCHEMES),
        st.sampled_from(hostile.USERS),
        st.sampled_from(hostile.HOSTS),
        st.sampled_from(hostile.PORTS),
        segments.map(lambda pieces: "".join(f"/{piece}" for piece in pieces)),
        st.one_of(st.just(""), queries.map("?{}".format)),
        st.one_of(st.just(""), st.sampled_from(hostile.PIECES).map("#{}".format)),
    )


def usual_urls() -> st.SearchStrategy[str]:
    """Return a URL of the usual shape, normalized or not: scheme, `://`, host, path, maybe more."""
    rest = st.text(st.characters(codec="utf-8", min_codepoint=0x21), max_size=20)
    return st.builds(
        lambda scheme, host, path: f"{scheme}://{host}/{path}",
        st.sampled_from(("http", "https", "HTTP")),
        st.sampled_from(("h", "a.b.example", "192.0.2.1", "[::1]:80", "u:p@BÜCHER.example:8", "@a..b:")),
        st.one_of(rest, st.text("/?&;=#%a1é.+", max_size=20)),
    )
