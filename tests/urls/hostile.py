"""URLs that nobody writes on purpose and every crawler meets, as many as wanted, always the same.

Hypothesis looks for small counterexamples among hundreds; this fills a differential test with a
hundred thousand texts in a second.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def unescaped(text: str) -> str:
    """Return the text with Python's escapes resolved, other characters untouched."""
    return text.encode("ascii", "backslashreplace").decode("unicode_escape")


def pieces(words: str) -> list[str]:
    """Return the words with their escapes resolved; two quotes stand for the empty one."""
    return [unescaped("" if word == "''" else word) for word in words.split()]


SCHEMES = ["http://", "https://"] * 30 + pieces(r"""
    https:// HTTP:// hTtPs:// http: http:/ http:/// http:\\\\ http:/\\ https://// \x20http:// \thttp://
    ht\ttp:// http\n:// http:\r// \x00\x1fhttp:// ftp:// // htp:// http// '' javascript: http\x20://
    \u00a0http://
""")
USERS = [""] * 24 + pieces(r"""
    user@ user:pass@ u%40:p%3a@ a@b@ @ :@ ü:é@ a\x20b@ [@ u;v=1&w@ %@
""")
USUAL_HOSTS = ["example.com", "www.example.com", "EXAMPLE.org", "a.example.co.uk", "192.0.2.7", "[::7]"]
HOSTS = USUAL_HOSTS * 20 + pieces(r"""
    example.com EXAMPLE.com www.example.co.uk a.b.c.d.e localhost example.com. x_y.example -a-.example
    a--b.example 1.example example.1a 0x.example a..b .a a.. . 192.0.2.1 192.0.2.1. 0xC0.0.02.01
    3221225985 192.0.513 0300.0.2.1 256.1.1.1 1.2.3.4.5 09.1.1.1 0x 0xg 1.2.3.0x 4294967296 0x100000000
    1.2.3.256 1..2 127.1 %31%32 [::1] [2001:DB8::0:1] [1:2:3:4:5:6:7:8] [::ffff:192.0.2.1]
    [::FFFF:c000:201] [1::2::3] [:1] [] [::1 ::1] [::1]x x[::1] [1:2:3:4:5:6:1.2.3.4] [::1.2.3]
    [::01.2.3.4] [::1%25eth0] [12345::] [1:2:3:4:5:6:7::] [::1:2:3:4:5:6:7] [1:0:0:2:0:0:0:3]
    [1:0:0:2:0:0:3:4] [v1.x] bücher.example BÜCHER.example bu\u0308cher.example faß.example 中国.中国
    例え.テスト ＡＢＣ.example a\u3002b.example a\uff0eb １２７.０.０.１ xn--bcher-kva.example
    XN--BCHER-KVA.example xn-- xn--a xn--a-é.example xn--a-.é אב.example א1.example 1א.example
    a\u00adb.example \u00ad \u200d.example
    😀.example b%C3%BCcher.example ex%61mple.com a%2eb a%2Fb a%00b a%zz a% % %C3 a%20b %ff.com a\x20b
    a\tb.example a\nb a!b a$b a'b (a) a*b a+b a,b a;b a=b a&b a~b a"b a<b a>b a^b a`b a{b} a|b a\x01b
    a\x7fb '' xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.example
""")
PORTS = [""] * 48 + pieces(r"""
    :80 :443 :8080 : :0 :00080 :65535 :65536 :99999999999 :8a :-1 :\x2080 :8\t0 :%38 ::80 :80:80 :٨
""")
PIECES = pieces(r"""
    a b index.html A%42c %7Euser %2e %2E%2e . .. ... .%2e '' '' %2F %5c % %4 %zz %%34%31 %4%31 %25 é 中 😀
    a\x20b a+b a|b [x] {x} a\\b a^b ` " <> a;b a=b a,b a:b a@b a!b'(c)* a~b a\tb a\nb a\x00b \x7f \u00a0
    \ufffd $&
""")
QUERIES = pieces(r"""
    x=1 x x= =x = '' a=1&a=2 q=a\x20b q=a+b a[]=1 a[b]=| x=1;y=2 && a==b ? u=http://h/p?q é=ü %7e=%7E x=%
    x=%zz a='b' a="b" <a> a\\b a\tb `{}^ a=%26&b
""")


def hostile_url(dice: random.Random) -> str:
    """Return one text, mostly an http(s) URL, with something wrong in any of its parts."""
    path = "".join(
        dice.choice("////\\") + dice.choice(PIECES) for _ in range(dice.choice((0, 1, 1, 2, 3, 5)))
    )
    query = (
        "?" + "&".join(dice.choice(QUERIES) for _ in range(dice.choice((1, 1, 2, 3))))
        if dice.random() < 0.5
        else ""
    )
    fragment = "#" + dice.choice(PIECES) if dice.random() < 0.2 else ""
    after = dice.choice(("", "", "", "", " ", "\t", "\x01", "\n"))
    url = dice.choice(SCHEMES) + dice.choice(USERS) + dice.choice(HOSTS) + dice.choice(PORTS) + path + query
    return damaged(url + fragment + after, dice)


def damaged(text: str, dice: random.Random) -> str:
    """Return the text, in one case of four with a character too few, too many or out of place."""
    if not text or dice.random() < 0.75:
        return text
    at = dice.randrange(len(text))
    inserted = dice.choice("/\\:@?#&;=%.[]|~ \t\n0aZé中\u3002\u00ad\x00\x7f")
    return text[:at] + dice.choice(("", inserted, text[at] + inserted, text[at] * 2)) + text[at + 1 :]


def hostile_urls(count: int, seed: int = 3986) -> Iterator[str]:
    """Return `count` texts, the same for the same seed."""
    dice = random.Random(seed)
    return (hostile_url(dice) for _ in range(count))
