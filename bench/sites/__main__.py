"""Generated sites from the command line.

python -m bench.sites --list                                what kinds there are
python -m bench.sites forum --rules                         what is true of such a site, and what is not
python -m bench.sites forum --urls 15608 -o seen.parquet --labels truth.tsv
python -m bench.sites news shop --urls 10000 --serve 8080   the same sites over HTTP on loopback
python -m bench.sites --sites 1000 --urls 1000000 -o crawl.parquet     one giant, many small, all kinds
"""

from __future__ import annotations

import argparse
import sys
from itertools import chain
from typing import TYPE_CHECKING

from bench.sites import KINDS, Crawl, site
from bench.sites.archive import write_archive
from bench.sites.crowd import crowd
from bench.sites.output import write
from bench.sites.rows import EVIDENCE
from bench.sites.server import LOOPBACK, SiteServer
from undust.errors import UndustError

if TYPE_CHECKING:
    from bench.sites import Site


def main() -> None:
    """Do what is asked."""
    told = _options().parse_args()
    if told.list:
        for kind in KINDS.values():
            print(f"{kind.name:14} {kind.about}")
        return
    try:
        _run(told, _sites(told))
    except (UndustError, ValueError) as error:
        sys.exit(f"bench.sites: {error}")


def _sites(told: argparse.Namespace) -> list[Site]:
    if told.sites:
        kinds = [site(name, told.urls).kind for name in told.kinds or KINDS]
        return list(crowd(kinds, told.urls, told.sites, told.seed))
    if not told.kinds:
        message = f"name a kind of site: {', '.join(KINDS)}"
        raise ValueError(message)
    return [site(name, told.urls, told.seed, giant=told.giant) for name in told.kinds]


def _run(told: argparse.Namespace, sites: list[Site]) -> None:
    if told.rules:
        for each in sites:
            _tell(each)
    elif told.serve is not None:
        server = SiteServer(*sites, port=told.serve)
        print(f"serving {_named(sites)} at http://{LOOPBACK}:{server.port}")
        try:
            server.run()
        except KeyboardInterrupt:
            print(f"{len(server.requests):,} requests answered")
    elif told.warc:
        count = write_archive(sites, Crawl(coverage=told.coverage), told.warc)
        print(f"{count:,} responses of {_named(sites)} in {told.warc}")
    elif told.output:
        if told.log and not {"status", "size", "time"} <= set(told.evidence):
            message = "a log needs status, size and time; add them to --evidence"
            raise ValueError(message)
        crawl = Crawl(told.noise, told.coverage, told.sightings, tuple(told.evidence))
        rows = chain.from_iterable(each.batches(crawl) for each in sites)
        count = write(rows, told.output, labels=told.labels, log=told.log)
        print(f"{count:,} rows of {_named(sites)} in {told.output}")
    else:
        message = "say what to do: -o FILE, --warc FILE, --serve PORT, --rules or --list"
        raise ValueError(message)


def _named(sites: list[Site]) -> str:
    names = ", ".join(each.domain for each in sites[:20])
    return names if len(sites) <= 20 else f"{names} and {len(sites) - 20:,} more sites"  # noqa: PLR2004


def _tell(each: Site) -> None:
    print(f"# {each.domain}: {each.kind.about}\n# true")
    print(*each.rules, sep="\n")
    print("# false")
    print(*each.false_rules, sep="\n")
    if each.kind.inexpressible:
        print("# duplicates that no rule can express")
        print(*each.kind.inexpressible, sep="\n")


def _options() -> argparse.ArgumentParser:
    ask = argparse.ArgumentParser(
        prog="python -m bench.sites",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("kinds", metavar="KIND", nargs="*", help="one or several, see --list")
    ask.add_argument("--list", action="store_true", help="tell the kinds and end")
    ask.add_argument("--rules", action="store_true", help="tell the true rules, the false ones, and the rest")
    ask.add_argument("--serve", type=int, metavar="PORT", help="answer on loopback; 0 for any free port")
    ask.add_argument("-o", "--output", metavar="FILE", help="observations: .parquet, .jsonl, .csv, also .gz")
    ask.add_argument("--warc", metavar="FILE", help="the responses themselves: .warc, .warc.gz")
    ask.add_argument("--labels", metavar="FILE", help="the truth: the URL and its page, for judges only")
    ask.add_argument("--log", metavar="FILE", help="the same sightings as an access log with sizes")
    ask.add_argument("--urls", type=int, default=10_000, metavar="N", help="URLs of each site [%(default)s]")
    ask.add_argument("--sites", type=int, metavar="N", help="so many sites with --urls URLs together")
    ask.add_argument("--seed", type=int, default=0, help="another seed, another site [%(default)s]")
    ask.add_argument("--giant", type=int, default=0, metavar="N", help="so many of the URLs show one page")
    ask.add_argument("--noise", type=_share, default=0.0, help="share of pages that are mislabelled [0]")
    ask.add_argument("--coverage", type=_share, default=1.0, help="share of URLs that are seen at all [1]")
    ask.add_argument("--sightings", type=float, default=1.0, help="rows per URL, popular ones more often [1]")
    ask.add_argument(
        "--evidence", nargs="*", default=EVIDENCE, choices=EVIDENCE, help="columns to fill [all]"
    )
    return ask


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        message = f"{text} is no share; give a number from 0 to 1"
        raise argparse.ArgumentTypeError(message)
    return value


if __name__ == "__main__":
    main()
