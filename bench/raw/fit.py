"""Fit the numbers that every site leans on (`src/undust/pages/prior.json`) to sites whose pages are known.

    python -m bench.raw.fit FOLDER [--without NAME]... [-o prior.json]

FOLDER holds `NAME.warc.gz` beside `NAME.labels.tsv.gz`. Each site weighs the same. A site whose figures are
reported must be left out of the fit.
"""

from __future__ import annotations

import argparse
import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import undust
from undust.jobs.find_duplicates import table_with_site
from undust.pages import features_of, inputs_of
from undust.pages.clustering.evidence import evidence_of
from undust.pages.clustering.nodes import nodes_of
from undust.pages.clustering.shapes import Shapes
from undust.pages.facts import EvidencePrior, other_pairs
from undust.reading.observations import sites_in
from undust.urls import normalize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.pages.clustering.nodes import Nodes

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

BINS = 14
PAIRS = 1000
"""Pairs of one page that are looked at, of each site."""
USUAL = (1.0, 1.0, 1.0, 0.5, 0.3, 0.3, 0.0, 0.0)
"""What the factors are without any site: pages are alike in all features at once."""
PENALTIES = (4.0, 4.0, 4.0, 40.0, 400.0, 400.0, 4.0, 1e-9)
"""How strongly they are held there. A handful of sites shows too little to drop a feature, and whether
numbers, order and titles differ between copies is a matter of the software of a site."""
SMALLEST_STEP = 1e-9
SMALLEST = 0.002
"""Share of the pairs that a bin holds at least."""


def main() -> None:
    """Fit and write."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--without", action="append", default=[], metavar="NAME")
    ask.add_argument("-o", "--output", type=Path, default=Path("src/undust/pages/prior.json"))
    told = ask.parse_args()
    paths = [each for each in sorted(told.folder.glob("*.warc.gz")) if _name(each) not in told.without]
    prior = fitted([samples_of(path) for path in paths], [agreements_of(path) for path in paths])
    written = {
        "fitted_on": [_name(path) for path in paths],
        "numbers": {name: _rounded(value) for name, value in asdict(prior).items()},
    }
    told.output.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def fitted(
    samples: list[tuple[Floats, Floats, Floats]], agreements: list[tuple[Floats, Floats, float, float]]
) -> EvidencePrior:
    """Return the numbers: a logistic model of features, and the distributions of its scores."""
    factors = _logistic(samples)
    scored = [[inputs_of(some) @ factors for some in (same, *others)] for same, *others in samples]
    # Where the two kinds meet, and not where hardly anything is in doubt.
    lowest = np.mean([np.quantile(site[2], 0.5) for site in scored if len(site[2])])
    highest = np.mean([np.quantile(site[0], 0.8) for site in scored])
    edges = np.linspace(lowest, highest, BINS - 1)
    shares = np.arange(1, 32) / 32 - 1 / 64
    agreement_edges = np.append(shares[[3, 9, 15, 19, 23, 25, 27, 28, 29, 30]], 1 - 1 / 64)
    return EvidencePrior(
        factors=tuple(factors),
        edges=tuple(edges),
        same=_histogram([site[0] for site in scored], edges),
        other=_histogram([some for site in scored for some in site[1:]], edges),
        agreement_edges=tuple(agreement_edges),
        agreement_same=_histogram([each[0] for each in agreements], agreement_edges),
        agreement_other=_histogram([each[1] for each in agreements], agreement_edges),
        equal_digest_same=float(np.mean([each[2] for each in agreements])),
        equal_digest_other=max(float(np.mean([each[3] for each in agreements])), SMALLEST),
    )


def samples_of(path: Path) -> tuple[Floats, Floats, Floats]:
    """Return the features of pairs of one page, of two pages at random, and of two neighbours."""
    nodes, label = labelled(path)
    evidence = evidence_of(nodes, lambda: Shapes.of(nodes.urls))
    facts = replace(evidence.facts, label=label, home=np.full(len(nodes), -1))
    rows = np.flatnonzero(facts.shows & (label >= 0) & np.asarray(nodes.blocks.is_valid()))
    same = _same_pairs(label, rows)
    others = [_labelled_apart(label, pairs) for pairs in other_pairs(facts, rows)]
    core = evidence.columns(np.ones(len(facts) + len(facts.earlier.row), np.bool_))
    return tuple(features_of(core, pairs) for pairs in (same, *others))  # type: ignore[return-value]


def agreements_of(path: Path) -> tuple[Floats, Floats, float, float]:
    """Return in which share of minima pairs of one page and of two agree, and how often digests are equal."""
    nodes, label = labelled(path)
    facts = replace(evidence_of(nodes, lambda: Shapes.of(nodes.urls)).facts, label=label)
    rows = np.flatnonzero(facts.shows & (label >= 0))
    same = _same_pairs(label, rows)
    random, near = (_labelled_apart(label, pairs) for pairs in other_pairs(facts, rows))
    other = np.concatenate((random[0], near[0])), np.concatenate((random[1], near[1]))
    agreement = [_agreement(nodes, pairs) for pairs in (same, other)]
    equal = [float((nodes.digest[left] == nodes.digest[right]).mean()) for left, right in (same, other)]
    return agreement[0], agreement[1], equal[0], equal[1]


def labelled(path: Path) -> tuple[Nodes, Ints]:
    """Return the largest site of a file and the label of each of its nodes."""
    table = table_with_site(undust.read(path))
    site, rows = max(sites_in(table), key=lambda each: (len(each[1]), each[0]))
    nodes = nodes_of(rows.drop_columns(["cluster"]), site)
    with gzip.open(path.with_name(f"{_name(path)}.labels.tsv.gz"), "rt", encoding="utf-8") as lines:
        next(lines)
        told = dict(line.rstrip("\n").split("\t") for line in lines)
    pages = {normalize(url): page for url, page in told.items()}
    codes: dict[str, int] = {}
    found = [pages.get(url) for url in nodes.urls.to_pylist()]
    label = [-1 if page is None else codes.setdefault(page, len(codes)) for page in found]
    return nodes, np.asarray(label, np.int64)


def _logistic(samples: list[tuple[Floats, Floats, Floats]]) -> Floats:
    """Return the factors of a logistic model; each site weighs the same."""
    inputs, wanted, weights = [], [], []
    for same, *others in samples:
        for some, is_same, weight in ((same, 1.0, 100.0), *((other, 0.0, 50.0) for other in others)):
            inputs.append(inputs_of(some))
            wanted.append(np.full(len(some), is_same))
            weights.append(np.full(len(some), weight / max(len(some), 1)))
    x, y, w = np.concatenate(inputs), np.concatenate(wanted), np.concatenate(weights)
    return _newton(x, y, w, np.asarray(USUAL))


def _newton(x: Floats, y: Floats, w: Floats, usual: Floats) -> Floats:
    factors = usual.copy()
    factors[-1] = -float(np.average(x @ usual, weights=w))
    penalty = np.diag(PENALTIES)

    def loss(at: Floats) -> float:
        sign = (2 * y - 1) * (x @ at)
        return float((w * np.logaddexp(0, -sign)).sum() + 0.5 * (at - usual) @ penalty @ (at - usual))

    for _ in range(100):
        share = 1 / (1 + np.exp(-np.clip(x @ factors, -30, 30)))
        gradient = x.T @ (w * (y - share)) - penalty @ (factors - usual)
        curve = (x * (w * share * (1 - share))[:, None]).T @ x + penalty
        step = np.linalg.solve(curve, gradient)
        while loss(factors + step) > loss(factors) and np.abs(step).max() > SMALLEST_STEP:
            step /= 2
        factors += step
    return factors


def _same_pairs(label: Ints, rows: Ints) -> tuple[Ints, Ints]:
    order = rows[np.lexsort((rows, label[rows]))]
    is_first = np.diff(label[order], prepend=-1) != 0
    first = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]]
    left, right = first[~is_first], order[~is_first]
    some = np.random.Generator(np.random.PCG64(0)).permutation(len(left))[:PAIRS]
    return left[some], right[some]


def _labelled_apart(label: Ints, pairs: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    left, right = pairs
    apart = label[left] != label[right]
    return left[apart], right[apart]


def _agreement(nodes: Nodes, pairs: tuple[Ints, Ints]) -> Floats:
    left, right = (nodes.sketch_row[rows] for rows in pairs)
    both = (left >= 0) & (right >= 0)
    return np.asarray((nodes.sketches[left[both]] == nodes.sketches[right[both]]).mean(axis=1), np.float64)


def _histogram(samples: list[Floats], edges: Floats) -> tuple[float, ...]:
    known = [some for some in samples if len(some)]
    each = [
        np.bincount(np.searchsorted(edges, some, side="right"), minlength=len(edges) + 1) / len(some)
        for some in known
    ]
    shares = np.maximum(np.mean(each, axis=0), SMALLEST)
    return tuple(shares / shares.sum())


def _rounded(value: float | tuple[float, ...]) -> float | list[float]:
    return [round(each, 5) for each in value] if isinstance(value, tuple) else round(value, 5)


def _name(path: Path) -> str:
    return path.name.partition(".")[0]


if __name__ == "__main__":
    main()
