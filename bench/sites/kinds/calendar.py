"""Calendar and filter traps: days without end, any day for its month, filters that find nothing.

Here the share of pages that show nothing is raised on purpose; elsewhere it is the measured one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import FIRST_DAY, Day, Listed, Number
from bench.sites.model import DROP_QUERY, DROP_TRACKING, NOTHING, TRACKING, Extra, Family, Form, Kind

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_DAYS = 730
_TYPES = ("all", "concert", "talk", "sport")
_PLACES = ("all", "north", "south", "east", "west")


def _first_of_month(digits: Digits) -> Digits:
    first = np.datetime64(FIRST_DAY, "D")
    month = (first + digits["day"]).astype("datetime64[M]")
    return {"day": (month.astype("datetime64[D]") - first).astype(np.int64)}


CALENDAR = Kind(
    name="calendar",
    about="days without end, any day for its month, filters that mostly find nothing",
    like="tracker",
    pages_per_address=0.7,
    families=(
        Family(
            "day",
            share=4,
            small={"day": _DAYS},
            fields={"n": Number(), "path": Day("%Y/%m/%d"), "date": Day("%Y-%m-%d")},
            forms=(
                Form("/cal{n}/day/{path}", 3),
                Form("/cal{n}/day?date={date}", 2),
                Form("/cal{n}/day?date={date}&view=full"),
                Form("/cal{n}/day?view=full&date={date}"),
            ),
        ),
        Family(
            "month",
            share=4,
            small={"day": _DAYS},
            fields={"n": Number(), "date": Day("%Y-%m-%d")},
            same=_first_of_month,
            forms=(Form("/cal{n}/month?date={date}", 3), Form("/cal{n}/month/{date}", 2)),
        ),
        Family(
            "events",
            share=3,
            main="week",
            fields={
                "week": Number("week"),
                "type": Listed("type", _TYPES),
                "place": Listed("place", _PLACES),
            },
            small={"type": len(_TYPES), "place": len(_PLACES)},
            shows={NOTHING: 0.6},
            forms=(
                Form("/events?week={week}", 2),
                Form("/events?week={week}&place={place}"),
                Form("/events?week={week}&type={type}&place={place}", 2),
                Form("/events?place={place}&week={week}&type={type}"),
            ),
        ),
        Family(
            "event",
            share=2,
            fields={"n": Number(start=7000)},
            forms=(Form("/event/{n}", 2), Form("/event.ics?id={n}", redirects=True), Form("/e/{n}")),
        ),
    ),
    extras=(Extra(query="precision=second", weight=0.4), Extra(query="back={moment}", weight=0.5), *TRACKING),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:precision|back}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{c}/day?view=full&{rest**} -> {s}://{h}/{c}/day?{rest}",
        "rewrite {s}://{h}/{c}/day?date={y:int}-{m:int}-{d:int}&{rest**} -> {s}://{h}/{c}/day/{y}/{m}/{d}?{rest}",
        "rewrite {s}://{h}/{c}/month/{d:date}?{rest**} -> {s}://{h}/{c}/month?date={d}&{rest}",
        "rewrite {s}://{h}/events?type=all&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/events?place=all&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}",
        "rewrite {s}://{h}/e/{n:int}?{rest**} -> {s}://{h}/event/{n}?{rest}",
        "rewrite {s}://{h}/event.ics?id={n:int}&{rest**} -> {s}://{h}/event/{n}?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/{c}/month?date={*:date}&{rest**} -> {s}://{h}/{c}/month?{rest}",
        "rewrite {s}://{h}/events?type={*}&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/events?week={*:int}&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/{c}/day/{y:int}/{m:int}/{*:int}?{rest**} -> {s}://{h}/{c}/day/{y}/{m}/01?{rest}",
        DROP_QUERY,
    ),
    inexpressible=("a month is shown for any of its days: /cal1/month?date=2001-01-07 and ?date=2001-01-20",),
)
