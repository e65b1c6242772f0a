"""Numbers, UUIDs and hashes: an interface and a repository browser, whose footers change at every fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Hash, Listed, Number
from bench.sites.model import DROP_QUERY, DROP_TRACKING, NOTHING, TRACKING, Extra, Family, Form, Kind, Manners

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_BRANCHES = ("master", "stable", "old")


def _unchanged(digits: Digits) -> Digits:
    # Of the files that were tested, 46 % were the same on the other branches.
    is_same = digits["n"] % 13 < 6  # noqa: PLR2004
    return {"branch": np.where(is_same, 0, digits["branch"])}


REST = Kind(
    name="rest",
    about="numbers, UUIDs, hashes and short hashes of one thing, branches, two versions of an interface",
    like="repository",
    families=(
        Family(
            "item",
            share=4,
            fields={"n": Number(), "uuid": Hash(length=32, dashes=True)},
            forms=(
                Form("/api/v1/items/{n}", 3),
                Form("/api/v1/items/{uuid}", 2),
                Form("/api/latest/items/{n}", is_read=False),
                Form("/api/v1/items?id={n}"),
                Form("/api/v1/items/{n}?pretty=1"),
            ),
        ),
        Family("old", share=1, fields={"n": Number()}, forms=(Form("/api/v0/items/{n}", 2),)),
        Family(
            "commit",
            share=4,
            fields={"sha": Hash(), "short": Hash(length=10)},
            forms=(
                Form("/git/commit/?id={sha}", 3),
                Form("/git/commit/?id={short}", 2),
                Form("/git/commit/{sha}"),
                Form("/git/commit/?id={sha}&context=3"),
            ),
        ),
        Family(
            "file",
            share=3,
            fields={"n": Number(), "branch": Listed("branch", _BRANCHES)},
            small={"branch": len(_BRANCHES)},
            same=_unchanged,
            forms=(
                Form("/git/tree/f{n}.c", 3),
                Form("/git/tree/f{n}.c?h={branch}", 3),
                Form("/git.cgi/git/tree/f{n}.c", is_read=False),
            ),
        ),
        Family("raw", fields={"n": Number()}, forms=(Form("/git/plain/f{n}.c", 2),)),
        Family(
            "log",
            fields={"n": Number(), "offset": Number("offset", start=0, step=10)},
            small={"offset": 3},
            shows={NOTHING: 0.3},
            forms=(Form("/git/log/f{n}.c", 2), Form("/git/log/f{n}.c?ofs={offset}", 2)),
        ),
    ),
    extras=(Extra(query="token={sid}", weight=0.4), Extra(query="_={moment}", weight=0.4), *TRACKING),
    manners=Manners(aliases={"/api/latest/": "/api/v1/", "/git.cgi/": "/"}),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:token|_|pretty}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/api/latest/{p**}?{rest**} -> {s}://{h}/api/v1/{p}?{rest}",
        "rewrite {s}://{h}/api/v1/items?id={n:int}&{rest**} -> {s}://{h}/api/v1/items/{n}?{rest}",
        "rewrite {s}://{h}/git/commit/{n:hex}?{rest**} -> {s}://{h}/git/commit/?id={n}&{rest}",
        "rewrite {s}://{h}/git/commit/?context=3&{rest**} -> {s}://{h}/git/commit/?{rest}",
        "rewrite {s}://{h}/git/tree/{f}?h=master&{rest**} -> {s}://{h}/git/tree/{f}?{rest}",
        "rewrite {s}://{h}/git/log/{f}?ofs=0&{rest**} -> {s}://{h}/git/log/{f}?{rest}",
        "rewrite {s}://{h}/git.cgi/{p**}?{rest**} -> {s}://{h}/{p}?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/git/tree/{f}?h={*}&{rest**} -> {s}://{h}/git/tree/{f}?{rest}",
        "rewrite {s}://{h}/git/commit/?id={*:hex}&{rest**} -> {s}://{h}/git/commit/?{rest}",
        "rewrite {s}://{h}/api/{*:v0|v1}/{p**}?{rest**} -> {s}://{h}/api/v1/{p}?{rest}",
        "rewrite {s}://{h}/git/{*:tree|plain}/{f}?{rest**} -> {s}://{h}/git/tree/{f}?{rest}",
        "rewrite {s}://{h}/git/log/{f}?ofs={*:int}&{rest**} -> {s}://{h}/git/log/{f}?{rest}",
        DROP_QUERY,
    ),
    inexpressible=(
        "the number and the UUID of an item",
        "a short hash and the whole one",
        "a file that no commit changed is the same on all branches",
    ),
)
