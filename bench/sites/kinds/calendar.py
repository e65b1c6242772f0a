"""Calendar and filter traps: days without end, any day for its month, filters that find nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import FIRST_DAY, Day, Listed, Number
from bench.sites.model import DROP_QUERY, DROP_TRACKING, NOTHING, TRACKING, Extra, Family, Form, Kind

if TYPE_CHECKING:
    from bench.sites.fields import Digits

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
    families=(
        Family(
            "day",
            share=4,
            main="day",
            fields={"path": Day("%Y/%m/%d"), "date": Day("%Y-%m-%d")},
            forms=(
                Form("/day/{path}", 3),
                Form("/day?date={date}", 2),
                Form("/day?date={date}&view=full"),
                Form("/day?view=full&date={date}"),
            ),
        ),
        Family(
            "month",
            share=4,
            main="day",
            fields={"date": Day("%Y-%m-%d")},
            same=_first_of_month,
            forms=(Form("/month?date={date}", 3), Form("/month/{date}", 2)),
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
            forms=(Form("/event/{n}", 2), Form("/event.ics?id={n}", 0.5, redirects=True), Form("/e/{n}")),
        ),
    ),
    extras=(Extra(query="precision=second", weight=0.4), Extra(query="back={moment}", weight=0.5), *TRACKING),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:precision|back}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/day?view=full&{rest**} -> {s}://{h}/day?{rest}",
        "rewrite {s}://{h}/day?date={y:int}-{m:int}-{d:int}&{rest**} -> {s}://{h}/day/{y}/{m}/{d}?{rest}",
        "rewrite {s}://{h}/month/{d:date}?{rest**} -> {s}://{h}/month?date={d}&{rest}",
        "rewrite {s}://{h}/events?type=all&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/events?place=all&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}",
        "rewrite {s}://{h}/e/{n:int}?{rest**} -> {s}://{h}/event/{n}?{rest}",
        "rewrite {s}://{h}/event.ics?id={n:int}&{rest**} -> {s}://{h}/event/{n}?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/month?date={*:date}&{rest**} -> {s}://{h}/month?{rest}",
        "rewrite {s}://{h}/events?type={*}&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/events?week={*:int}&{rest**} -> {s}://{h}/events?{rest}",
        "rewrite {s}://{h}/day/{y:int}/{m:int}/{*:int}?{rest**} -> {s}://{h}/day/{y}/{m}/01?{rest}",
        DROP_QUERY,
    ),
    inexpressible=("a month is shown for any of its days: /month?date=2001-01-07 and ?date=2001-01-20",),
)
