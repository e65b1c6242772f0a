"""Write cpp/idna_tables.hpp, the Unicode facts behind international host names.

The core carries its own tables, so that a host has one ASCII form on every machine,
whatever Unicode the Python there knows. This script makes them from two packages, `idna`
(UTS #46 and joining types) and `unicodedata2` (everything else), which must speak of the
same Unicode version:

    pip install idna unicodedata2
    python tools/make_idna_tables.py
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import unicodedata2
from idna import idnadata, uts46data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEADER_PATH = Path(__file__).resolve().parent.parent / "cpp" / "idna_tables.hpp"
UNICODE_END = 0x110000
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)

VALID, DISALLOWED, SHIFTED, MAPPED = range(4)
NO_REPLACEMENT = ""

LEFT, RIGHT, ARABIC_NUMBER, EUROPEAN_NUMBER, NEUTRAL, NONSPACING = range(6)
DIRECTIONS = {
    "R": RIGHT,
    "AL": RIGHT,
    "AN": ARABIC_NUMBER,
    "EN": EUROPEAN_NUMBER,
    **dict.fromkeys(("ES", "CS", "ET", "ON", "BN"), NEUTRAL),
    "NSM": NONSPACING,
}
JOINING = {"D": 1, "L": 2, "R": 3, "T": 4}

OPENING = """\
// Written by tools/make_idna_tables.py; do not edit.
//
// What Unicode {version} says about the code points of host names. A table of ranges is two
// arrays: where each range starts, and what holds until the next one does.
#pragma once

#include <cstdint>

// clang-format off
namespace undust::idna {{

inline constexpr char kUnicodeVersion[] = "{version}";

// The low two bits of an action say what UTS #46 does to a code point; the rest how.
//   kShifted: the signed difference to its replacement
//   kMapped:  where its replacement is in kReplacements, times 32, and how long it is
enum Action : std::uint8_t {{ kValid, kDisallowed, kShifted, kMapped }};

// Traits of a valid code point: combining class (8 bits), direction (3 bits), joining (3 bits), mark (1 bit).
enum Direction : std::uint8_t {{ kLeft, kRight, kArabicNumber, kEuropeanNumber, kNeutral, kNonspacing }};
enum Joining : std::uint8_t {{ kNonJoining, kDualJoining, kLeftJoining, kRightJoining, kTransparent }};

// What two code points become in NFC. Hangul syllables are not here: arithmetic makes them.
struct Pair {{
  char32_t first, second, composed;
}};
"""


class Change(NamedTuple):
    """What UTS #46 does to the code points from `start` on."""

    start: int
    kind: int
    shift: int = 0
    replacement: str = NO_REPLACEMENT


def changes() -> Iterator[Change]:
    """The whole code space in order, one change for each range of the published table."""
    starts = (*uts46data.uts46_starts, UNICODE_END)
    rows = zip(pairwise(starts), uts46data.uts46_statuses, uts46data.uts46_replacements, strict=True)
    for (start, end), status, replacement in rows:
        match chr(status):
            case "V" | "D":
                yield Change(start, VALID)
            case "I":
                yield Change(start, MAPPED)
            case "M" if replacement and len(replacement) == 1 and end - start == 1:
                yield Change(start, SHIFTED, shift=ord(replacement) - start)
            case "M" if replacement:
                yield Change(start, MAPPED, replacement=replacement)
            case _:
                yield Change(start, DISALLOWED)


def merged(rows: Iterable[Change]) -> list[Change]:
    """The same table with one row where neighbours do the same."""
    kept: list[Change] = []
    for row in rows:
        if not kept or kept[-1][1:] != row[1:]:
            kept.append(row)
    return kept


def pool_of(replacements: Iterable[str]) -> str:
    """A text that holds every replacement; long ones first, so that short ones hide in them."""
    pool = ""
    for replacement in sorted(set(replacements), key=lambda text: (-len(text), text)):
        if replacement not in pool:
            pool += replacement
    return pool


def action_of(change: Change, pool: str) -> int:
    """A change as one number, laid out as the header's comment says."""
    detail = change.shift
    if change.kind == MAPPED:
        detail = pool.index(change.replacement) * 32 + len(change.replacement)
    return detail * 4 + change.kind


def valid_code_points(rows: list[Change]) -> Iterator[int]:
    """Every code point that may stand in a host name as it is, in order."""
    ends = [row.start for row in rows[1:]] + [UNICODE_END]
    for row, end in zip(rows, ends, strict=True):
        if row.kind == VALID:
            yield from range(row.start, end)


def joining_types() -> dict[int, int]:
    """Code point to joining type; the package packs each range as start << 32 | end."""
    types: dict[int, int] = {}
    for letter, ranges in idnadata.joining_types.items():
        for packed in ranges:
            for code_point in range(packed >> 32, packed & 0xFFFFFFFF):
                types[code_point] = JOINING.get(letter, 0)
    return types


def trait_ranges(valid: Iterable[int]) -> tuple[list[int], list[int]]:
    """Starts and traits; what lies between valid code points is never asked for."""
    joining = joining_types()
    starts: list[int] = [0]
    traits: list[int] = [LEFT]
    for code_point in valid:
        letter = chr(code_point)
        trait = (
            unicodedata2.combining(letter)
            | DIRECTIONS.get(unicodedata2.bidirectional(letter), LEFT) << 8
            | joining.get(code_point, 0) << 11
            | unicodedata2.category(letter).startswith("M") << 14
        )
        if trait != traits[-1]:
            starts.append(code_point)
            traits.append(trait)
    return starts, traits


def composition_pairs(valid: set[int]) -> list[tuple[int, int, int]]:
    """Every (first, second, composed) that NFC can meet or make in text of valid code points."""
    pairs: list[tuple[int, int, int]] = []
    for code_point in range(UNICODE_END):
        letter = chr(code_point)
        first, _, second = unicodedata2.decomposition(letter).partition(" ")
        is_pair = second and not first.startswith("<")
        if not is_pair or code_point in HANGUL_SYLLABLES or unicodedata2.normalize("NFC", letter) != letter:
            continue
        pieces = unicodedata2.normalize("NFD", letter)
        if code_point in valid or all(ord(piece) in valid for piece in pieces):
            pairs.append((int(first, 16), int(second, 16), code_point))
    return sorted(pairs)


def array(kind: str, name: str, items: Iterable[str]) -> str:
    """One constant array of the header."""
    body = fill(" ".join(f"{item}," for item in items), 110, break_on_hyphens=False)
    return f"\ninline constexpr {kind} {name}[] = {{\n{body}\n}};\n"


def header_text() -> str:
    """The whole header; the same packages give the same bytes."""
    rows = merged(changes())
    pool = pool_of(row.replacement for row in rows)
    valid = list(valid_code_points(rows))
    starts, traits = trait_ranges(valid)
    pairs = composition_pairs(set(valid))
    by_composed = sorted(range(len(pairs)), key=lambda index: pairs[index][2])
    pieces = (
        OPENING.format(version=unicodedata2.unidata_version),
        array("std::uint32_t", "kActionStarts", (f"{row.start:#x}" for row in rows)),
        array("std::int32_t", "kActions", (str(action_of(row, pool)) for row in rows)),
        array("char32_t", "kReplacements", (f"{ord(letter):#x}" for letter in pool)),
        array("std::uint32_t", "kTraitStarts", (f"{start:#x}" for start in starts)),
        array("std::uint16_t", "kTraits", (str(trait) for trait in traits)),
        array("Pair", "kPairs", (f"{{{a:#x},{b:#x},{composed:#x}}}" for a, b, composed in pairs)),
        "\n// Places in kPairs, in the order of what is composed.",
        array("std::uint16_t", "kPairsByComposed", (str(index) for index in by_composed)),
        "\n}  // namespace undust::idna\n",
    )
    return "".join(pieces)


def main() -> None:
    """Write the header, unless the packages speak of different Unicode versions."""
    if uts46data.__version__ != unicodedata2.unidata_version:
        sys.exit(
            f"idna knows Unicode {uts46data.__version__} and unicodedata2 {unicodedata2.unidata_version}; "
            "install releases of both that know the same version"
        )
    HEADER_PATH.write_text(header_text(), encoding="ascii")


if __name__ == "__main__":
    main()
