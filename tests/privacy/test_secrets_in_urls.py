"""What looks secret is masked wherever strangers read, and nothing else is; a table of both."""

from __future__ import annotations

import random
import string
import time

import pytest

from undust.privacy import Context, is_random, looks_secret
from undust.privacy.masking import Masks

HEX = "1b6453892473a467d07372d45eb05abc2031647a"
UUID = "550e8400-e29b-41d4-a716-446655440000"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

MASKED = {
    # tokens that are secret wherever they stand
    f"/p?x={HEX}": "/p?x=***1",
    f"/files/{HEX[:32]}/view": "/files/***1/view",
    f"/a7_{HEX[:32]}_en.html": "/a7_***1_en.html",
    f"/view-7-{HEX[:32]}": "/view-7-***1",
    f"/?x=id:7|s:{HEX[:32]}": "/?x=id:7|s:***1",
    f"/?{HEX}": "/?***1",
    f"/?{HEX}=1": "/?***1=1",
    f"/p?x={HEX[:16]}": "/p?x=***1",
    f"/{HEX[:20].upper()}": "/***1",
    f"/s/{UUID}/p": "/s/***1/p",
    f"/{UUID.upper()}.html": "/***1.html",
    f"/?a={JWT}&b=1": "/?a=***1&b=1",
    f"/verify/{JWT}": "/verify/***1",
    "/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit": "/d/***1/edit",
    "/?q=dGhpcyBpcyBhIHRlc3Q%2FYWJj%2BZGVm%3D%3D": "/?q=***1",
    "/?gclid=Cj0KCQjw8e-gBhD0ARIsAJiDsaVq7xKc2Lm": "/?gclid=***1",
    "/?next=%2Fp%3Fx%3D4f2a90cc1b77de68daecd823": "/?next=%2Fp%3Fx%3D***1",
    "/x/Xy7_abQ-9dk2LmPq8vRt5wZn": "/x/***1",
    "/k/qzkxvwpjfhgtrbdlm": "/k/***1",
    "/?n=48392019384756102938475": "/?n=***1",
    "/?v=kj3h4k5j6h7g8f9d0s1a2q3w": "/?v=***1",
    # announced by a name
    "/p.php?PHPSESSID=3qf7l0h9v2k1": "/p.php?PHPSESSID=***1",
    "/p;jsessionid=4F2A90CC?x=1": "/p;jsessionid=***1?x=1",
    "/?osCsid=a1b2c3d4e5": "/?osCsid=***1",
    "/?sid=4f2a90cc": "/?sid=***1",
    "/?sid=123456789": "/?sid=***1",
    "/?csrf_token=Zx81Qm": "/?csrf_token=***1",
    "/?accessToken=ab12cd34": "/?accessToken=***1",
    "/?api_key=live_51Habc": "/?api_key=***1",
    "/?sid=s3cr3t-of-a-visitor": "/?sid=***1",
    "/?code=4f2a90cc1b&x=1": "/?code=***1&x=1",
    "/?next=%2Freset%3Ftoken%3Dab12cd34": "/?next=%2Freset%3Ftoken%3D***1",
    f"/commit?token={HEX}": "/commit?token=***1",
    "/?password=hunter&user=joe": "/?password=***1&user=joe",
    "/?user%5Bpassword%5D=hunter22": "/?user%5Bpassword%5D=***1",
    "/?user[password][]=hunter22": "/?user[password][]=***1",
    "/?password[0]=hunter22&a[0]=x": "/?password[0]=***1&a[0]=x",
    "/?form%5BapiToken%5D=ab12cd34": "/?form%5BapiToken%5D=***1",
    "/?c%5Bphone%5D=030-1234567": "/?c%5Bphone%5D=***1",
    "/pay/DE89370400440532013000": "/pay/***1",
    "/?user_passwd=correct%20horse": "/?user_passwd=***1%20***2",
    # announced by the path
    "/account/reset/k3j9x0": "/account/reset/***1",
    "/invite/QWXKZJPV": "/invite/***1",
    "/user/reset/25/1699999999/Xy7abQ9d": "/user/reset/25/***1/***2",
    "/reset-password?k=ab12cd34": "/reset-password?k=***1",
    "/newsletter/confirm?c=grYEote-NJBJ": "/newsletter/confirm?c=***1",
    "/activate/8841-AbCd": "/activate/***1",
    "/(S(lit3py55t21z5v55vlm25s55))/p.aspx": "/(S(***1))/p.aspx",
    # people
    "/to/joe@b.example/p": "/to/***1/p",
    "/?m=alice.smith%40example.org": "/?m=***1",
    "/?m=alice%2540example.org": "/?m=***1",
    "/?m=a%2Btag%40example.org&x=2": "/?m=***1&x=2",
    "/?tel=%2B4915112345678": "/?tel=***1",
    "/?phone=030-1234567": "/?phone=***1",
    "/?call=%2B4915112345678": "/?call=***1",
}
SHOWN = (
    # numbers, words, switches
    "/x?limit=15&page=1&path=20_27",
    "/?sid=4",
    "/?sid=",
    "/?token=new",
    "/?session=morning-keynote",
    "/?key=title&order=asc",
    "/?pass=2",
    "/?lostpassword=1&reset=true",
    "/?mail=me",
    "/reset/en/index.html",
    "/invite/friends",
    "/ticket/1234567",
    "/?code=US&lang_code=de",
    # product ids, ISBN, EAN, times, dates, releases
    "/dp/B07XJ8C8F5",
    "/watch?v=dQw4w9WgXcQ",
    "/isbn/9783161484100",
    "/isbn/978-3-16-148410-0",
    "/ean/4006381333931",
    "/?t=1700000000000",
    "/status/1729384756102938475",
    "/?from=2024-01-15T12%3A30%3A00Z",
    "/cal/20240115T123000Z",
    "/2024/01/15/",
    "/kernel-5.10.0-28-amd64.deb",
    "/npm/jquery@3.6.0/a.min.js",
    "/logo@2x.png",
    "/IMG_20240115_123456789.jpg",
    "/?lat=52.5200066&lng=13.4049540",
    # slugs and titles
    "/how-to-build-a-teapot-in-2024",
    "/spring_sale_2024_newsletter_de",
    "/WordPress_5.9.3_release_notes",
    "/iPhone12ProMaxCase256GB",
    "/HowToBrewTeaInThreeSteps",
    "/InternationalBusinessMachinesCorporation",
    "/Rechtsschutzversicherungsgesellschaften",
    "/Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
    "/zhongguorenmingongheguo",
    "/cekoslovakyalilastiramadiklarimizdanmisiniz",
    "/epäjärjestelmällistyttämättömyydellänsä",
    "/LONGUPPERCASEHEADLINE",
    "/wiki/%E6%97%A5%E6%9C%AC%E8%AA%9E%E7%89%88%E3%82%A6%E3%82%A3%E3%82%AD",
    "/wiki/Конституция_Российской_Федерации",
    "/wiki/%CF%F0%E8%E2%E5%F2%CF%F0%E8%E2%E5%F2%CF%F0%E8",
    "/@joe/posts/7",
    # commits of a repository browser
    f"/a.git/commit/?id={HEX}",
    f"/u/r/commit/{HEX}",
    f"/u/r/blob/{HEX}/src/a.py",
    f"/?p=a.git;a=commit;h={HEX}",
    "/u/r/commit/1b64538",
)


def test_the_table_is_large_enough() -> None:
    """Of both kinds, many."""
    assert len(MASKED) >= 45
    assert len(SHOWN) >= 45


@pytest.mark.parametrize("url", MASKED)
def test_what_looks_secret_is_masked(url: str) -> None:
    """Long and random, announced, or a person's; what stands around it stays."""
    assert Masks().text(f"http://a.test{url}") == f"http://a.test{MASKED[url]}"


@pytest.mark.parametrize("url", SHOWN)
def test_what_does_not_look_secret_is_shown(url: str) -> None:
    """A reviewer must see numbers, words, titles, dates and ids to judge a rule."""
    assert Masks().text(f"http://a.test{url}") == f"http://a.test{url}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://alice:s3cret@a.test/x", "http://***1@a.test/x"),
        ("http://alice@a.test:80", "http://***1@a.test:80"),
        ("http://a.test/?u=https://b:c@d.test/", "http://a.test/?u=https://***1@d.test/"),
        ("mailto:joe@a.test", "mailto:***1"),
        (
            f"rewrite {{s}}://{{h}}/a-2024-01;j={HEX}?m={{*:joe@a.test|b@c.test}}&v=1 → {{s}}://{{h}}/?t={HEX}",
            "rewrite {s}://{h}/a-2024-01;j=***3?m={*:***1|***2}&v=1 → {s}://{h}/?t=***3",
        ),
        ('replace ";sid=4f2a90cc1b" -> ""', 'replace ";sid=***1" -> ""'),
    ],
)
def test_rules_sentences_and_user_names(text: str, expected: str) -> None:
    """Whatever a text is, its secrets are found in it."""
    assert Masks().text(text) == expected


def test_different_values_stay_different_and_equal_ones_equal() -> None:
    """Escaped or not, a value has one number in all texts of a report."""
    masks = Masks()
    shown = [masks.text(f"http://a.test/?sid={value}") for value in ("ab12cd34", "ab12cd35", "ab12cd34")]
    assert shown == [f"http://a.test/?sid=***{number}" for number in (1, 2, 1)]
    assert masks.text("/?m=joe@a.test") == masks.text("/?m=joe%40a.test") == "/?m=***3"
    assert len(masks) == 3


def test_masks_of_a_file_get_numbers_of_their_own() -> None:
    """***1 in a rule file and the first value of a report are two values; a second pass changes nothing."""
    masks = Masks()
    assert masks.text("http://a.test/?sid=ab12cd34") == "http://a.test/?sid=***1"
    assert masks.text("http://a.test/?sid=***1&x=***2&y=***1") == "http://a.test/?sid=***2&x=***3&y=***2"
    once = Masks().text("http://a.test/?sid=ab12cd34&token=Zx81Qm")
    assert Masks().text(once) == once


def test_a_key_stays_masked_where_a_rule_takes_its_word_away() -> None:
    """In /invite/KEY it is announced; in what a rule makes of that it is not."""
    masks = Masks()
    shown = [masks.text(f"http://a.test/{path}4f2a90cc1b") for path in ("invite/", "")]
    assert shown == ["http://a.test/invite/***1", "http://a.test/***1"]


def test_what_a_rule_removes_need_be_less_random() -> None:
    """A session id of ten characters in a path is masked where a rule removes it; a folder is not."""
    url = "http://a.test/s/4f2a90cc1b/books"
    assert Masks().text(url) == url
    assert Masks().text(url, {"4f2a90cc1b", "books"}) == "http://a.test/s/***1/books"
    for word in ("15", "20240115", "books", "blue-teapot-v2-large", "iPhone12ProMaxCase256GB", "p-7"):
        assert not looks_secret(word, Context.REMOVED), word


ALPHABETS = {
    "hexadecimal": "0123456789abcdef",
    "base 32": string.ascii_lowercase + "234567",
    "base 36": string.ascii_lowercase + string.digits,
    "base 62": string.ascii_letters + string.digits,
    "base 64": string.ascii_letters + string.digits + "-_",
    "letters": string.ascii_letters,
    "small letters": string.ascii_lowercase,
}


@pytest.mark.parametrize("name", ALPHABETS)
def test_random_texts_of_every_alphabet_are_found(name: str) -> None:
    """Of 2,000 tokens of 20 to 40 characters, at most one in a hundred is taken for words."""
    draw = random.Random(7)
    tokens = ["".join(draw.choices(ALPHABETS[name], k=draw.randint(20, 40))) for _ in range(2000)]
    assert sum(map(is_random, tokens)) >= 1980


@pytest.mark.slow
def test_hostile_texts_take_time_in_proportion() -> None:
    """Twice as long takes about twice as long, whatever it repeats."""
    for piece in ("-", "a.", "a@", "/a", "a@b.", "eyJ", "%25", "aB3", "token=", "a://", "1b6453892473a467/"):
        took = [float("inf"), float("inf")]
        for _ in range(5):
            for place, length in enumerate((10_000, 40_000)):
                text = f"http://a.test/{piece * (length // len(piece))}"
                start = time.process_time()
                Masks().text(text)
                took[place] = min(took[place], time.process_time() - start)
            if took[1] < 12 * took[0] + 0.05:
                break
        else:
            pytest.fail(f"{took[1] / took[0]:.0f} times as long for four times {piece}")
