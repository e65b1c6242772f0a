"""The learner over HTTP and JSON: what each request may say, and what it gets back; no network here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.crawling.learner import CrawlLearner

MOST_REQUEST_BYTES = 8 << 20
MOST_AT_ONCE = 1_000
"""URLs or rows in one request."""
_JSON, _TEXT = "application/json", "text/plain; version=0.0.4; charset=utf-8"
_HELP = {
    "decided": "URLs that were asked about.",
    "skipped": "URLs that were skipped.",
    "explored": "Probable duplicates that were fetched to test the rules.",
    "returned": "Skipped URLs that were handed back.",
    "observed": "URLs of which a response was observed.",
    "pages": "Different texts that were seen.",
    "learned": "Times that the rules of a site were learned.",
    "withdrawn": "Times that rules failed and were withdrawn.",
}


class Reply(NamedTuple):
    """What is sent back."""

    status: int
    kind: str
    body: bytes


class _BadRequest(Exception):  # noqa: N818 -- an answer, not a failure
    pass


def refusal(status: int, message: str) -> Reply:
    """Return an error as JSON."""
    return Reply(status, _JSON, json.dumps({"error": message}).encode())


def reply_to(learner: CrawlLearner, method: str, path: str, body: bytes) -> Reply:
    """Return the reply to a request."""
    route = _ROUTES.get(path)
    if route is None:
        return refusal(404, f"there is no {path[:100]}; the paths are {', '.join(_ROUTES)}")
    expected, work = route
    if method != expected:
        return refusal(405, f"{path} takes {expected}")
    try:
        return work(learner, _parsed(body) if method == "POST" else {})
    except _BadRequest as problem:
        return refusal(400, str(problem))
    except UndustError as error:
        return refusal(400, str(error))


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        message = "the body is not a JSON object"
        raise _BadRequest(message)
    return found


def _list_in(asked: dict[str, Any], name: str, kind: type) -> list[Any]:
    """Return the list that a request must have, all of one type and not too long."""
    found = asked.get(name)
    if set(asked) != {name} or not isinstance(found, list) or not all(isinstance(it, kind) for it in found):
        words = "texts" if kind is str else "objects"
        message = f"the body must be an object with '{name}', a list of {words}, and nothing else"
        raise _BadRequest(message)
    if len(found) > MOST_AT_ONCE:
        message = f"'{name}' has {len(found):,} entries; send at most {MOST_AT_ONCE:,} at a time"
        raise _BadRequest(message)
    return found


def _decide(learner: CrawlLearner, asked: dict[str, Any]) -> Reply:
    decisions = learner.decide_many(_list_in(asked, "urls", str))
    return _as_json({"decisions": [decision._asdict() for decision in decisions]})


def _observe(learner: CrawlLearner, asked: dict[str, Any]) -> Reply:
    rows = _list_in(asked, "rows", dict)
    learner.observe_many(rows)
    return _as_json({"observed": len(rows)})


def _returned(learner: CrawlLearner, asked: dict[str, Any]) -> Reply:
    most = asked.get("most", MOST_AT_ONCE)
    if set(asked) - {"most"} or not isinstance(most, int) or not 0 < most <= MOST_AT_ONCE:
        message = f"the body must be an object with 'most', from 1 to {MOST_AT_ONCE}, or empty"
        raise _BadRequest(message)
    return _as_json({"urls": learner.returned(most)})


def _rules(learner: CrawlLearner, _: dict[str, Any]) -> Reply:
    return Reply(200, _JSON, learner.rules.dumps())


def _metrics(learner: CrawlLearner, _: dict[str, Any]) -> Reply:
    lines = []
    for name, meaning in _HELP.items():
        full = f"undust_{name}_total"
        lines += [f"# HELP {full} {meaning}", f"# TYPE {full} counter", f"{full} {learner.counts[name]}"]
    return Reply(200, _TEXT, ("\n".join(lines) + "\n").encode())


def _openapi(_: CrawlLearner, __: dict[str, Any]) -> Reply:
    return _as_json(openapi())


def _as_json(value: object) -> Reply:
    return Reply(200, _JSON, json.dumps(value).encode())


_ROUTES: dict[str, tuple[str, Callable[[CrawlLearner, dict[str, Any]], Reply]]] = {
    "/decide": ("POST", _decide),
    "/observe": ("POST", _observe),
    "/returned": ("POST", _returned),
    "/rules": ("GET", _rules),
    "/metrics": ("GET", _metrics),
    "/openapi.json": ("GET", _openapi),
}


def openapi() -> dict[str, Any]:
    """Return the description of this interface in OpenAPI 3.1."""
    texts = {"type": "array", "items": {"type": "string"}, "maxItems": MOST_AT_ONCE}
    row = {"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}}
    decision = {
        "url": {"type": "string"},
        "action": {"enum": ["fetch", "skip"]},
        "key": {"type": "string"},
        "canonical": {"type": "string"},
        "reason": {"type": "string"},
        "explore": {"type": "boolean"},
    }
    decisions = {"type": "array", "items": {"type": "object", "properties": decision}}
    rows = {"type": "array", "items": row, "maxItems": MOST_AT_ONCE}
    most = {"type": "integer", "minimum": 1, "maximum": MOST_AT_ONCE}
    posts: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "/decide": ("Decide which URLs to fetch.", {"urls": texts}, {"decisions": decisions}),
        "/observe": ("Report what was seen.", {"rows": rows}, {"observed": {"type": "integer"}}),
        "/returned": ("Take back URLs that were skipped, each once.", {"most": most}, {"urls": texts}),
    }
    gets = {"/rules": "The rules that are believed now.", "/metrics": "Counters for Prometheus."}
    paths: dict[str, Any] = {path: {"get": _operation(text)} for path, text in gets.items()}
    for path, (text, asked, told) in posts.items():
        body = {"required": True, "content": _content(asked)}
        paths[path] = {"post": _operation(text, told) | {"requestBody": body}}
    return {"openapi": "3.1.0", "info": {"title": "undust serve", "version": "1"}, "paths": paths}


def _operation(text: str, told: dict[str, Any] | None = None) -> dict[str, Any]:
    done = {"description": "Done."} | ({"content": _content(told)} if told else {})
    wrong = {"description": "What is wrong.", "content": _content({"error": {"type": "string"}})}
    return {"summary": text, "responses": {"200": done, "400": wrong}}


def _content(properties: dict[str, Any]) -> dict[str, Any]:
    return {_JSON: {"schema": {"type": "object", "properties": properties}}}
