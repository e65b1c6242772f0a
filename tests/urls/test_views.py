"""The two views: the worked examples of the papers, and every decision about what a key is."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
import pytest

from undust.urls import KeyValueView, TokenView
from undust.urls.views import END, NO_EQUALS, START


def tokens(url: str, style: Literal["triplets", "words", "runs", "types"] = "triplets") -> list[str]:
    """Return the tokens between the sentinels."""
    start, *between, end = TokenView.of([url], style).tokens(0)
    assert (start, end) == ("^", "$")
    return between


def pairs(url: str, separators: Literal["&", "&;"] = "&") -> dict[str, str | None]:
    """Return one URL as a map."""
    return KeyValueView.of([url], separators).pairs(0)


# ---- tokens


def test_dustbuster_example() -> None:
    """DustBuster's example has 15 tokens, sentinels included."""
    expected = ["^", "http", ":", "/", "/", "www", ".", "site", ".", "com", "/", "index", ".", "html", "$"]
    assert len(expected) == 15
    for style in ("words", "triplets"):
        assert list(TokenView.of(["http://www.site.com/index.html"], style).tokens(0)) == expected


def test_duster_example() -> None:
    """DUSTER's example has 11 tokens, without sentinels."""
    expected = ["http", ":", "/", "/", "ex", ".", "com", "/", "1", ".", "htm"]
    assert len(expected) == 11
    assert tokens("http://ex.com/1.htm", "runs") == expected


def test_letters_and_digits_apart_only_in_runs() -> None:
    """`ex123` is one word, but two runs."""
    assert tokens("ex123a", "words") == ["ex123a"]
    assert tokens("ex123a", "triplets") == ["ex123a"]
    assert tokens("ex123a", "runs") == ["ex", "123", "a"]


def test_triplets_are_tokens_in_their_style_alone() -> None:
    """A percent triplet is one token where rules work, three characters where the papers do."""
    assert tokens("a%20b%C3%A9%zz%4") == ["a", "%20", "b", "%C3", "%A9", "%", "zz", "%", "4"]
    assert tokens("a%20b", "words") == ["a", "%", "20b"]
    assert tokens("a%20b", "runs") == ["a", "%", "20", "b"]
    assert tokens("a%20b7", "types") == ["a", "%20", "b", "7"]


def test_other_characters_stand_alone() -> None:
    """Every character that is no ASCII letter or digit is a token, whole even where it has many bytes."""
    assert tokens("é中😀_-~ \t") == ["é", "中", "😀", "_", "-", "~", " ", "\t"]


def test_sentinels_cannot_be_written() -> None:
    """A literal `^` or `$` in a URL is another token than the sentinel that is shown like it."""
    view = TokenView.of(["^$"])
    codes = view.codes.to_pylist()
    assert view.tokens(0) == ("^", "^", "$", "$")
    assert (codes[0], codes[-1]) == (START, END)
    assert not {START, END} & set(codes[1:-1])
    assert view.vocabulary[START].as_py() is view.vocabulary[END].as_py() is None


def test_token_columns() -> None:
    """A null has no tokens, an empty text has its sentinels; both come back."""
    urls = ["http://h/", None, "", "x"]
    view = TokenView.of(urls)
    assert len(view) == 4
    assert view.offsets.to_pylist() == [0, 8, 8, 10, 13]
    assert view.urls().to_pylist() == urls


def test_token_codes_are_ranks() -> None:
    """Comparing codes compares texts, byte by byte."""
    texts = TokenView.of(["b.a/é%41Z"]).vocabulary.to_pylist()[2:]
    assert texts == sorted(texts, key=str.encode)


# ---- keys and values


def test_rewrite_example() -> None:
    """The example of Dasgupta et al. has their eight keys, with our host labels taken together."""
    url = "http://shopping.yahoo.com/electronics/cameras/digicams/product.php?prodid=1000&sort=price"
    ours = pairs(url)
    host = ".".join(str(ours.pop(f"host_{place}")) for place in (2, 1, 0))
    assert {**ours, "host": host} == {
        "scheme": "http",
        "host": "shopping.yahoo.com",
        "path_0": "electronics",
        "path_1": "cameras",
        "path_2": "digicams",
        "path_3": "product.php",
        "?prodid": "1000",
        "?sort": "price",
    }


def test_parameter_order_is_not_part_of_the_map() -> None:
    """Two orders of the same parameters are equal maps, and still two URLs."""
    urls = ["http://h/show.php?a=10&b=20", "http://h/show.php?b=20&a=10"]
    view = KeyValueView.of(urls)
    assert view.pairs(0) == view.pairs(1)
    entries = list(zip(view.keys.to_pylist(), view.values.to_pylist(), strict=True))
    assert sorted(entries[: len(entries) // 2]) == sorted(entries[len(entries) // 2 :])
    assert view.urls().to_pylist() == urls


def test_mirrors_differ_in_one_key() -> None:
    """Host labels count from the right, so that a mirror or `www` moves no other label."""
    us, de, bare = (pairs(f"http://{host}/x") for host in ("us.php.net", "de.php.net", "php.net"))
    assert {key for key in us if us[key] != de[key]} == {"host_2"}
    assert us == {**bare, "host_2": "us"}


@pytest.mark.parametrize("host", ["192.0.2.1", "[2001:db8::1]", "0x7f.1"])
def test_an_address_is_one_key(host: str) -> None:
    """The numbers of an address are not labels."""
    assert pairs(f"http://{host}:81/") == {"scheme": "http", "host_0": host, "port": "81"}


def path_of(url: str) -> dict[str, str | None]:
    """Return the keys that the path and the query have given."""
    return {key: value for key, value in pairs(url).items() if key not in {"scheme", "host_0"}}


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("/", {}),
        ("/a", {"path_0": "a"}),
        ("/a/", {"path_0": "a", "slash": "1"}),
        ("/a/b", {"path_0": "a", "path_1": "b"}),
        ("/a//b", {"path_0": "a", "path_1": "", "path_2": "b"}),
        ("//", {"path_0": "", "slash": "1"}),
        ("//a", {"path_0": "", "path_1": "a"}),
        ("/a//", {"path_0": "a", "path_1": "", "slash": "1"}),
        ("/?", {"?": None}),
        ("/?x", {"?x": None}),
        ("/?x=", {"?x": ""}),
        ("/?x=1=2", {"?x": "1=2"}),
        ("/?=1", {"?": "1"}),
        ("/?x=1&x=2&x", {"?x": "1", "?x#2": "2", "?x#3": None}),
        ("/?&&", {"?": None, "?#2": None, "?#3": None}),
        ("/?x=1;y=2", {"?x": "1;y=2"}),
        ("/?%78=%7e", {"?%78": "%7e"}),
        ("/a#f", {"path_0": "a", "fragment": "f"}),
        ("/?slash=2&path_0=3", {"?slash": "2", "?path_0": "3"}),
    ],
)
def test_decisions(rest: str, expected: dict[str, str | None]) -> None:
    """Each case that the papers leave open has one answer."""
    assert path_of(f"http://h{rest}") == expected


def test_three_ways_of_a_parameter_are_three_values() -> None:
    """`?x`, `?x=` and no `x` are told apart by codes too."""
    view = KeyValueView.of(["http://h/?x", "http://h/?x=", "http://h/"])
    assert view.value_texts[NO_EQUALS].as_py() is None
    last = [view.values[offset - 1].as_py() for offset in view.offsets.to_pylist()[1:3]]
    assert last[0] == NO_EQUALS
    assert view.value_texts[last[1]].as_py() == ""


def test_semicolons_where_asked() -> None:
    """With `&;` both separate, and each is remembered where it stood."""
    url = "http://h/?a=1;b&c;;"
    view = KeyValueView.of([url], "&;")
    assert view.pairs(0) == {
        "scheme": "http",
        "host_0": "h",
        "?a": "1",
        "?b": None,
        "?c": None,
        "?": None,
        "?#2": None,
    }
    assert bytes(view.separators.to_pylist()) == b"\x00\x00?;&;;"
    assert view.urls().to_pylist() == [url]


def test_userinfo_and_port_are_keys() -> None:
    """What stands beside the host is not part of its labels."""
    assert pairs("http://u:p@h:81/") == {"scheme": "http", "userinfo": "u:p", "host_0": "h", "port": "81"}
    assert pairs("http://@h:/") == {"scheme": "http", "userinfo": "", "host_0": "h", "port": ""}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "http://h",
        "http://h?x",
        " http://h/",
        "http://h/ ",
        "http:/h/",
        "http:\\\\h/",
        "http://a b/",
        "ftp://h/",
        None,
    ],
)
def test_no_url_of_the_usual_shape_has_no_entries(text: str | None) -> None:
    """What is no URL, or one that a browser would have to repair, has no keys and does not come back."""
    view = KeyValueView.of(["http://h/", text, "http://h/"])
    assert view.offsets.to_pylist() == [0, 2, 2, 4]
    assert view.urls().to_pylist() == ["http://h/", None, "http://h/"]


def test_keys_are_sorted_as_urls_are_written() -> None:
    """Keys rank by place (the tenth segment after the second), parameters by name, then by repetition."""
    path = "/".join("abcdefghijkl")
    url = f"http://u@w.h:81/{path}/?z&a&a&{'&'.join('b' * 11)}#f"
    names = KeyValueView.of([url]).key_names.to_pylist()
    assert names == [
        *(
            "scheme",
            "userinfo",
            "host_0",
            "host_1",
            "port",
            *(f"path_{place}" for place in range(12)),
            "slash",
        ),
        *("?a", "?a#2", "?b", *(f"?b#{count}" for count in range(2, 12)), "?z", "fragment"),
    ]


def test_values_are_ranks() -> None:
    """Comparing value codes compares texts, byte by byte."""
    texts = KeyValueView.of(["http://h/b/a/é/Z/?x=%41&y="]).value_texts.to_pylist()[1:]
    assert texts == sorted(texts, key=str.encode)


# ---- columns of all kinds


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()],
    ids=str,
)
def test_every_kind_of_text_column(kind: pa.DataType) -> None:
    """Strings and bytes, large and small or as views, have the same views and come back as they were."""
    urls = pa.array(["http://h/é?ü", None, "http://a.b/c/?d=1"])
    column = urls.cast(kind)
    for view in (TokenView.of(column), KeyValueView.of(column)):
        assert view.urls().cast(pa.large_string()).to_pylist() == urls.to_pylist()
    assert KeyValueView.of(column).pairs(0) == KeyValueView.of(urls).pairs(0)
    assert TokenView.of(column).tokens(0) == TokenView.of(urls).tokens(0)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_bytes_that_are_no_text(kind: pa.DataType) -> None:
    """Bytes that are not UTF-8 raise nothing, are shown as Python shows them, and come back."""
    url = b"http://h/\xff?\xfe=\xc3\xc3\xa9"
    column = pa.array([url], pa.binary()).view(kind)
    assert KeyValueView.of(column).pairs(0) == {
        "scheme": "http",
        "host_0": "h",
        "path_0": "\udcff",
        "?\udcfe": "\udcc3é",
    }
    assert TokenView.of(column).tokens(0)[-4:] == ("=", "\udcc3", "é", "$")
    for view in (TokenView.of(column), KeyValueView.of(column)):
        assert view.urls().cast(pa.large_binary()).to_pylist() == [url]


def test_empty_columns() -> None:
    """No rows, no entries, no URLs."""
    for view in (TokenView.of([]), KeyValueView.of([]), TokenView.of(pa.chunked_array([], pa.string()))):
        assert len(view) == 0
        assert view.urls().to_pylist() == []


def test_unknown_options_are_named() -> None:
    """A misspelled style or separator is an error that says what there is."""
    with pytest.raises(ValueError, match="unknown token style 'word'; the styles are triplets, words, runs"):
        TokenView.of([], "word")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown separators ';'; query pairs are split at '&' or at '&;'"):
        KeyValueView.of([], ";")  # type: ignore[arg-type]
