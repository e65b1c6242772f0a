"""Rules and URLs by somebody who wants the canonicalizer to hang: they backtrack, cycle and grow.

Run as a program it prints the peak memory, in bytes, that the hostile rules take on one hostile URL.
"""

from __future__ import annotations

import sys
from typing import Any

from undust.rules import RuleSet

SITE = "example.com"
BASE = f"http://{SITE}/"
RULE_COUNT = 1000
LONGEST = 64 * 1024
FORMS = ("sorted", "unique", "first", "last", "amp", "plain", "lower")


def _rewrite(source: str, target: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 -- as in a rule file
    sides = {"from": f"{{s}}://{{h}}/{source}", "to": f"{{s}}://{{h}}/{target}"}
    return {"site": SITE, "kind": "rewrite", **sides, **more}


def _replace(source: str, target: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"site": SITE, "kind": "replace", "from": source, "to": target, **more}


def _rule(number: int) -> dict[str, Any]:  # noqa: PLR0911 -- a list of ten
    captures = [f"{{a{place}}}" for place in range(2 + number * 7 % 90)]
    match number % 10:
        case 0:  # a matcher that backtracks has 2^90 ways to share the dashes
            return _rewrite("-".join(captures) + f"!{number}", "-".join(captures) + "?")
        case 1:
            return _rewrite(f"?x={'a'.join(captures)}zz{number}", "?x={a0}")
        case 2:
            return _replace("a" * (1 + number // 10) + ".", "a.a")
        case 3:  # 64 KiB of slashes, at each of which nothing changes in the end
            return _replace("/", "/./", unless=[f"?q{number}"])
        case 4:
            return _rewrite(f"{{p**}}/x{number}", f"{{p}}/x{number + 10}/y")
        case 5:
            names = "|".join(f"n{number}_{place}*" for place in range(50))
            return _rewrite(f"{{p**}}?{{**:{names}}}&{{r**}}", "{p}?{r}&{r}")
        case 6:
            return _rewrite(f"{{p**}}/{{a:int}}{{b:alpha}}{{c:int}}{{d:alpha}}{{e:int}}x{number}", "{p}/{a}")
        case 7:
            return _replace("a/a" + "/a" * (number // 10) + "/b", "b")
        case 8:
            unless = [f"?x={{a}}-{{b}}-{{c}}-{{d}}-q{number}"]
            return _rewrite("{p**}?{r**}", f"{{p}}?{{r:{FORMS[number % len(FORMS)]}}}", unless=unless)
        case _:
            return _replace(f"-{number}-", f"-{number + 10}-")


def hostile_rules() -> RuleSet:
    """Return a thousand rules of one site, each of which has to be tried on many of the URLs."""
    return RuleSet(_rule(number) for number in range(RULE_COUNT))


GROWING = {
    "a byte a step": [_replace("$", "a")],
    "twice as long": [_rewrite("{p**}", "{p}/{p}")],
    "parameters": [_rewrite("{p**}?{r**}", "{p}?{r}&{r}")],
    "tokens": [_replace("a", "a.a")],
}
CYCLING = {
    "two": [_rewrite("{a}-{b}", "{b}-{a}")],
    "three": [_rewrite("{a}-{b}-{c}", "{c}-{a}-{b}")],
    "many": [_rewrite(f"x{place}/{{p**}}", f"x{(place + 1) % 200}/{{p}}") for place in range(200)],
}


def hostile_urls(size: int) -> dict[str, str]:
    """Return URLs of about `size` bytes that are bad for one kind of rule each."""
    left = size - len(BASE) - 1
    return {
        "dashes": BASE + "a-" * (left // 2),
        "slashes": BASE + "/" * left,
        "dots": BASE + "a." * (left // 2),
        "segments": BASE + "a/" * (left // 2),
        "empty parameters": BASE + "?" + "&" * (left - 1),
        "parameters": BASE + "?" + "&".join(f"x={place:05}" for place in range(left // 8)),
        "one value": BASE + "?x=" + "a" * (left - 3),
        "classes": BASE + "1a" * (left // 2),
        "cycles": BASE + "x0/" + "-9-" * (left // 3 - 1),
        "labels": "http://" + "a." * ((left - len(SITE)) // 2) + SITE + "/",
        "dashed label": "http://" + "a-" * ((left - len(SITE)) // 2) + f"a.{SITE}/",
        "triplets": BASE + "%2F" * (left // 3),
    }


def main() -> None:
    """Print the peak memory after the URL of that name and size."""
    name, size = sys.argv[1], int(sys.argv[2])
    canonicalize = hostile_rules().compile()
    url = hostile_urls(size).get(name, BASE)
    canonicalize(url)
    for rules in (*GROWING.values(), *CYCLING.values()):
        RuleSet(rules).compile()(url)
    import resource  # noqa: PLC0415 -- Windows has none

    unit = 1 if sys.platform == "darwin" else 1024
    sys.stdout.write(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit}\n")


if __name__ == "__main__":
    main()
