"""What comes along with undust: permissive, listed, pinned."""

from __future__ import annotations

import re

import pytest

from tools.dependencies import PAGE, Package, is_allowed, packages, row

INSTALLED = packages()


@pytest.mark.parametrize("package", INSTALLED, ids=lambda package: package.name)
def test_package_is_permissive_and_listed(package: Package) -> None:
    """A new dependency, another licence or another version has to be looked at before it comes in."""
    assert is_allowed(package.licence), f"{package.name} is under {package.licence}"
    assert row(package) in PAGE.read_text(encoding="utf-8").splitlines(), "run python -m tools.dependencies"


def test_the_page_lists_nothing_else() -> None:
    """What is no longer needed is gone from the page; a package for another Python may be missing here."""
    listed = set(re.findall(r"^\| ([a-z][\w-]*) \| \d", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert listed - {package.name for package in INSTALLED} <= {"backports-zstd"}
    assert {package.name for package in INSTALLED} <= listed
    assert len(INSTALLED) > 50


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND Zlib", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND AGPL-3.0-or-later", False),
        ("LGPL-2.1", False),
        ("unknown", False),
    ],
)
def test_licences_are_told_apart(licence: str, *, expected: bool) -> None:
    """Of several to choose from one must fit, of several together all."""
    assert is_allowed(licence) is expected
