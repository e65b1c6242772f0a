"""What a rule does, for those who do not read patterns; and which values it makes nobody see."""

from __future__ import annotations

import pytest

from undust.privacy.masking import forgotten_names, removed_from
from undust.rules import Rule
from undust.showing.words import FORMS, in_words, in_words_with_conditions

TOLD = {
    "keep {s}://{h}/a": "keeps these URLs as they are",
    'replace "/index.php" -> "/"': "replaces “/index.php” with “/”",
    'replace "/index.php" -> ""': "removes “/index.php”",
    "rewrite {s}://{h}/{p**}?sid={**}&{r**} -> {s}://{h}/{p}?{r}": "removes sid",
    "rewrite {s}://{h}/{p**}?{**:utm_*|ref}&{r**} -> {s}://{h}/{p}?{r}": "removes utm_*, ref",
    "rewrite {s}://{h}/{p**}?id={v}&{r**} -> {s}://{h}/{p}?id={v:any}&{r}": "ignores the value of id",
    "rewrite {s}://{h}/{p**}?{r**} -> {s}://{h}/{p:lower}?{r}": "writes lower case",
    "rewrite {s}://{h}/{a} -> {s}://{h}/{a:capital}": "writes a capital first",
    "rewrite {s}://{h}/{a} -> {s}://{h}/{a:plain}": "decodes what needs no encoding",
    "rewrite http://{h}/{p**}?{r**} -> https://{h}/{p}?{r}": "replaces http with https",
    "rewrite {s}://{h}/p/{*}/{id:int} -> {s}://{h}/p/{id}": "removes a part of the path",
    "rewrite {s}://{h}/show.php?t={a:int}&{r**} -> {s}://{h}/thread/{a}?{r}": (
        "replaces /show.php with /thread/… in the path; removes t=…"
    ),
    "rewrite {s}://{h}/{p**}?page=1&{r**} -> {s}://{h}/{p}?{r}": "removes page=1",
    "rewrite {s}://{h}/{p**}?a={x}&{r**} -> {s}://{h}/{p}?b={x}&{r}": "replaces a=… with b=…",
    "rewrite {s}://{h}/a -> {s}://{h}/a?x=1": "adds x=1",
    "rewrite {s}://{h}/{p**}?{k**:id|page}&{**} -> {s}://{h}/{p}?{k}": (
        "keeps only id, page of the parameters"
    ),
    "rewrite {s}://{h}/{p};jsessionid={*} -> {s}://{h}/{p}": "removes jsessionid; removes a part of the path",
    "rewrite {s}://{h:word}/a/{x:int} -> {s}://{h}/a/{x:lower}": "writes lower case",
}


@pytest.mark.parametrize("text", TOLD)
def test_a_rule_is_told_in_words(text: str) -> None:
    """One short sentence, without the language."""
    assert in_words(Rule.parse(text, site="a.test")) == TOLD[text]


@pytest.mark.parametrize("form", ["sorted", "unique", "first", "last", "amp"])
def test_forms_of_parameters_are_told(form: str) -> None:
    """Each form has its words."""
    text = f"rewrite {{s}}://{{h}}/{{p**}}?{{r**}} -> {{s}}://{{h}}/{{p}}?{{r:{form}}}"
    assert in_words(Rule.parse(text, site="a.test")) == FORMS[form]


def test_removed_values_are_found_and_no_others() -> None:
    """By name, by the start of a name, and in a path; what is empty or has another name stays."""
    texts = [
        "rewrite {s}://{h}/{p};jsessionid={*} -> {s}://{h}/{p}",
        "rewrite {s}://{h}/{p**}?{**:utm_*|sid}&{r**} -> {s}://{h}/{p}?{r}",
    ]
    names = forgotten_names([Rule.parse(text, site="a.test") for text in texts])
    assert names == (";jsessionid", "utm_*", "sid")
    url = "http://a.test/x;JSESSIONID=4F/y?id=7&utm_source=me&sid=&sid=9&outm_x=1&utm_=2&side=3"
    assert removed_from(url, names) == {"4F", "utm_source", "me", "sid", "9", "utm_", "2"}
    assert removed_from("http://a.test/", names) == set()


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ("when ?page=1", "removes sid where page=1"),
        ("when ?t={*:int}, ?f={**}", "removes sid where it has t and it has f"),
        ("when /c/{**}", "removes sid where it is below /c/"),
        ("when {s}://www.a.test", "removes sid where it is on www.a.test"),
        ("when /c/{**}, ?page=1", "removes sid where it is below /c/ and page=1"),
        ("unless ?page=2", "removes sid, unless page=2"),
        ("when ?path={**}, ?path=34_{*}", "removes sid where it has path and path=34_…"),
        ("unless ?item=red-{*}, ?item={*}-{*}", "removes sid, unless item=red-… or item=…-…"),
        ("when ?sid=0", "removes sid=0"),
        ("when ?sid=0, /c/{**}", "removes sid=0 where it is below /c/"),
        ("when ?sid={*:int}", "removes sid where it has sid"),
        ("when ?x=1 unless /a/{**}, ?y={**}", "removes sid where x=1, unless below /a/ or it has y"),
    ],
)
def test_conditions_are_in_the_headline(conditions: str, told: str) -> None:
    """A reader sees where a rule holds without reading the pattern."""
    text = "rewrite {s}://{h}/{p**}?sid={**}&{r**} -> {s}://{h}/{p}?{r}"
    assert in_words_with_conditions(Rule.parse(f"{text} {conditions}", site="a.test")) == told
