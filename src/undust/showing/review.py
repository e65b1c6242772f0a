"""The report served to one person on this machine, with switches that save.

`ReviewSession` is what a person can do with rules while reviewing them: try a URL, switch rules, save. It
knows nothing of the network. It writes one file, the one it was given, and only the status and the review of
rules in it; what was there before stays beside it.

`ReviewServer` serves one page to one person: loopback only, a token, and nothing but four doors. A page from
elsewhere that is open in the same browser can send requests here. It cannot know the token, it cannot hide
its Origin, and a name that it points at 127.0.0.1 (DNS rebinding) shows in Host: each of the three is checked
on its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs

from undust.errors import UndustError, file_sentence
from undust.files.streams import open_output
from undust.rules import RuleSet
from undust.rules.language import REVIEW_VERDICTS
from undust.rules.verdict import decision
from undust.showing.report.material import Texts, made_visible
from undust.showing.words import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from undust.showing.report import Report


class Facts(Protocol):
    """What the page shows under some rules, and under others."""

    def with_rules(self, rules: RuleSet) -> Facts:
        """Return the same about other rules."""

    def facts_of(self, site: str | None) -> dict[str, Any]:
        """Return what is said of all sites, and everything that depends on rules about one of them."""


class ReviewSession:
    """The rules under review, and the URLs that show what they remove and lose."""

    def __init__(self, path: str, gathered: Facts, *, yes: bool = False) -> None:
        self.path = Path(path).resolve()
        self._may_lose = yes
        self._seen = self.path.read_bytes()
        self.rules = RuleSet.load(path)
        self._gathered = gathered

    @property
    def off(self) -> list[str]:
        """The ids of the rules that are switched off in the file, or only proposed."""
        pairs = zip(self.rules.ids, self.rules.raw, strict=True)
        return [id_ for id_, raw in pairs if raw.get("status") in {"disabled", "proposed"}]

    def switched(self, off: Iterable[str]) -> RuleSet:
        """Return the rules with exactly these switched off."""
        chosen, ids = set(off), self.rules.ids
        if unknown := sorted(chosen - set(ids)):
            message = f"no rule has the id {unknown[0]!r}; load the page again"
            raise UndustError(message)
        # Leaving a retired rule off is not a decision about it.
        before = set(self.off)
        return self.rules.enable(*sorted(before - chosen)).disable(*sorted(chosen - before))

    def try_url(self, url: str, off: Iterable[str]) -> dict[str, Any]:
        """Return each step of a URL, as `undust explain` shows it."""
        explained = self.switched(off).compile().explain(url)
        # The person typed it: nothing in it is a secret from them.
        texts = Texts()
        steps: list[dict[str, Any]] = []
        if explained.normalized != explained.url:
            change = texts.change(explained.url, explained.normalized)
            steps.append({"rule": None, "change": change})
        before = explained.normalized
        for step in (*explained.steps, *explained.compared, *explained.masks):
            told = {
                "number": step.number,
                "id": step.rule.id,
                "rule": str(step.rule),
                "words": in_words(step.rule),
            }
            steps.append(told | {"change": texts.change(before, step.url)})
            before = step.url
        told = {"canonical": explained.canonical, "key": explained.key, "outcome": explained.outcome}
        return made_visible(told | {"steps": steps})  # type: ignore[no-any-return]

    def measure(self, off: Iterable[str], site: str | None = None) -> dict[str, Any]:
        """Return every number of the page under these switches: of all sites, and of the one that is open."""
        return self._gathered.with_rules(self.switched(off)).facts_of(site)

    def save(self, off: Iterable[str], *, yes: bool = False) -> dict[str, str]:
        """Write the switches into the rule file; the file before is kept beside it.

        A change after which more pages are lost than before is not written, unless the person said `yes` to
        it; the answer then has the sentence `refused`.
        """
        decided = self.switched(off)
        return self._refusal(decided, yes=yes) or self._write(decided)

    def decide(
        self, off: Iterable[str], reviews: Mapping[str, Mapping[str, str]], *, yes: bool = False
    ) -> dict[str, Any]:
        """Write the switches, and what a person decided about rules; who and when is written beside it."""
        decided = self.switched(off)
        for id_ in reviews:
            decided.find(id_)
        if refusal := self._refusal(decided, yes=yes):
            return refusal
        after = decided.with_rules(
            replace(rule, review={**(rule.review or {}), **decision(said.get("verdict"), said.get("note"))})
            if (said := reviews.get(rule.id)) is not None
            else rule
            for rule in decided
        )
        written = self._write(after)
        return {**written, "reviews": {rule.id: rule.review for rule in after if rule.id in reviews}}

    def _refusal(self, decided: RuleSet, *, yes: bool) -> dict[str, str]:
        """Return why a change is not written; empty if it is."""
        active = [{rule.id for rule in rules if rule.status == "active"} for rules in (self.rules, decided)]
        if yes or self._may_lose or active[0] == active[1]:
            return {}
        before, after = (
            self._gathered.with_rules(rules).facts_of(None)["totals"]["lost"]
            for rules in (self.rules, decided)
        )
        if after <= before:
            return {}
        lost = f"pages lost: {after:,} instead of {before:,}"
        return {"refused": f"{lost}; nothing was written; save again to lose them"}

    def _write(self, decided: RuleSet) -> dict[str, str]:
        if self.path.read_bytes() != self._seen:
            message = f"{self.path.name} was changed in the meantime; start the review again"
            raise UndustError(message)
        # Named for what it holds: a second save cannot replace the first backup.
        digest = hashlib.sha256(self._seen).hexdigest()[:8]
        backup = self.path.with_name(f"{self.path.name}.{digest}.bak")
        with open_output(str(backup)) as output:
            output.write(self._seen)
        decided.save(self.path)
        self.rules, self._seen = decided, self.path.read_bytes()
        return {"file": self.path.name, "backup": backup.name}


LOOPBACK = "127.0.0.1"
LONGEST_BODY = 1 << 20
TOKEN_BYTES = 24
_MOST_DIGITS = 20
"""Of a length. Python refuses to read a number of more than 4,300 digits."""


class ReviewServer(ThreadingHTTPServer):
    """Serves one report and its review session."""

    daemon_threads = True

    def __init__(self, desk: ReviewSession, report: Report, port: int = 0) -> None:
        self.desk = desk
        self.report = report
        self._off_in_report = desk.off
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self.one_at_a_time = Lock()
        super().__init__((LOOPBACK, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- of the base class
        """Print nothing about a browser that hung up."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def hosts(self) -> tuple[str, str]:
        """The names under which a browser of this machine may ask for the page."""
        return f"{LOOPBACK}:{self.server_port}", f"localhost:{self.server_port}"

    @property
    def address(self) -> str:
        """Where the page is, token included."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    def page(self) -> bytes:
        """Return the page as it is now."""
        off = self.desk.off
        served = {"token": self.token, "off": off, "is_older": off != self._off_in_report}
        return self.report.html(served).encode()


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    protocol_version = "HTTP/1.1"
    server_version = "undust"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """Send the page to requests with the token."""
        if not self._is_here():
            return
        path, _, query = self.path.partition("?")
        if path != "/":
            self._refuse(404, "there is only one page here")
        elif not self._has_token(parse_qs(query).get("token", [""])[0]):
            self._refuse(403, "this address lacks its token; copy the whole line that undust review printed")
        else:
            self._answer(200, self.server.page(), "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """Run an action for requests with the token."""
        door = _DOORS.get(self.path)
        if not self._is_here() or not self._is_own_page():
            return
        if door is None:
            self._refuse(404, "there is no such door")
        elif not self._has_token(self.headers.get("X-Undust-Token", "")):
            self._refuse(403, "the token is missing or wrong; load the page again")
        elif (asked := self._body()) is not None:
            self._open(door, asked)

    def _open(self, door: _Door, asked: dict[str, Any]) -> None:
        wanted = set(door.fields)
        if set(asked) != wanted or not all(door.fields[name](asked[name]) for name in wanted):
            self._refuse(400, f"this takes {', '.join(sorted(wanted))} and nothing else")
            return
        try:
            with self.server.one_at_a_time:
                told = door.work(self.server.desk, **asked)
        except UndustError as error:
            self._refuse(409, str(error))
            return
        except OSError as error:
            self._refuse(409, file_sentence(error))
            return
        self._answer(200, json.dumps(told).encode(), "application/json")

    def _is_here(self) -> bool:
        if self.headers.get_all("Host", []) in ([host] for host in self.server.hosts):
            return True
        self._refuse(403, "this server answers to 127.0.0.1 and localhost only")
        return False

    def _is_own_page(self) -> bool:
        origins = [f"http://{host}" for host in self.server.hosts]
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        if self.headers.get("Origin") in origins and site == "same-origin":
            return True
        self._refuse(403, "requests come from the page of this server or not at all")
        return False

    def _has_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self.server.token.encode())

    def _body(self) -> dict[str, Any] | None:
        length = _length_from(self.headers.get("Content-Length", ""))
        is_json = self.headers.get("Content-Type", "").partition(";")[0].strip() == "application/json"
        if length is None or length > LONGEST_BODY or not is_json:
            self._refuse(400, "a request is JSON of at most 1 MiB, with its length")
            return None
        try:
            found = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            self._refuse(400, "a request is a JSON object")
            return None
        return found

    def _refuse(self, code: int, message: str) -> None:
        self.close_connection = True
        self._answer(code, json.dumps({"error": message}).encode(), "application/json")

    def _answer(self, code: int, body: bytes, kind: str) -> None:
        self.send_response(code)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", "frame-ancestors 'none'"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            *((("Connection", "close"),) if self.close_connection else ()),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- of the base class
        """Print nothing: the address in a log line would give the token away."""


def _length_from(text: str) -> int | None:
    """Return the length that a header gives; None for what is not one, or has absurdly many digits."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None


def _is_ids(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_text_or_nothing(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_reviews(value: object) -> bool:
    """Whether a request says by id what was decided: a verdict, a note, or both."""
    return isinstance(value, dict) and all(
        isinstance(said, dict)
        and said.keys() <= {"verdict", "note"}
        and all(map(_is_text, said.values()))
        and said.get("verdict", REVIEW_VERDICTS[0]) in REVIEW_VERDICTS
        for said in value.values()
    )


class _Door:
    """One thing that the page may ask for: what it must say, and what is done."""

    def __init__(self, work: Callable[..., dict[str, Any]], **fields: Callable[[object], bool]) -> None:
        self.work = work
        self.fields = fields


_DOORS = {
    "/try": _Door(ReviewSession.try_url, url=_is_text, off=_is_ids),
    "/measure": _Door(ReviewSession.measure, off=_is_ids, site=_is_text_or_nothing),
    "/save": _Door(ReviewSession.save, off=_is_ids, yes=_is_truth),
    "/decide": _Door(ReviewSession.decide, off=_is_ids, reviews=_is_reviews, yes=_is_truth),
}
"""No request names a file: there is one, and the server knows it."""
