"""What the clients for async and sync programs share: the form of requests, and the reading of answers."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from typing_extensions import TypedDict

from ._errors import CLASSES, AnswerError, ApiError, ConfigError, type_of

VERSION = "1.0.0"
MAX_RETRY_AFTER = 60.0
_RETRIED = (408, 429, 500, 502, 503, 504)

T = TypeVar("T")


class RequestOptions(TypedDict, total=False):
    """The options of a call."""

    idempotency_key: str
    """By default each call has a new key, which its repeats share."""
    if_match: str
    """Makes a change only if the resource still has this ETag."""
    headers: Mapping[str, str]
    timeout: float
    max_retries: int


class WaitOptions(RequestOptions, total=False):
    """The options of a call that waits for work."""

    until: Sequence[str]
    """The states to wait for, instead of all in which the work has succeeded."""
    interval: float
    """The greatest pause between requests in seconds. The default is 10."""
    wait_at_most: float
    """The seconds after which waiting ends with an error. The default is 900."""


class Response(NamedTuple):
    """What a call returned beside its result."""

    status: int
    headers: Mapping[str, str]
    request_id: str
    replayed: bool
    """Whether this is the response of an earlier request with the same idempotency key."""
    attempts: int


class Page(Generic[T]):
    """A page of a list."""

    def __init__(self, items: list[T], next_cursor: str | None) -> None:
        self.items = items
        self.next_cursor = next_cursor


class Rule(NamedTuple):
    """Says when work has ended."""

    member: str
    done: Sequence[str]
    failed: Sequence[str]
    params: Mapping[str, Any] | None = None


class Answer(NamedTuple):
    """A good answer."""

    data: Any
    next_cursor: str | None
    response: Response


class Config:
    """The checked key and base URL of a client."""

    def __init__(self, api_key: str, base_url: str) -> None:
        if not api_key:
            raise ConfigError("the API key is empty")
        if not re.fullmatch(r"svc_(live|test)_[0-9A-Za-z]{49}", api_key):
            raise ConfigError("the API key is malformed: a key is svc_live_ or svc_test_ and 49 letters and digits")
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.username:
            raise ConfigError("the base URL must be a URL such as https://api.example.com")
        local = re.fullmatch(r"localhost|127(\.\d+){3}|::1", url.hostname)
        if url.scheme == "http" and api_key.startswith("svc_live_") and not local:
            raise ConfigError("the base URL must use https for a live key")
        self._key = api_key
        self.base = re.sub(r"/v1$", "", base_url.rstrip("/"))

    def __repr__(self) -> str:
        return f"{self.base}, {self._key[:9]}…"

    def headers(self, method: str, options: RequestOptions, key: str) -> dict[str, str]:
        """Returns the headers of a request."""
        headers = {
            **options.get("headers", {}),
            "Authorization": f"Bearer {self._key}",
            "Accept": "application/json",
            "User-Agent": f"content-automation-python/{VERSION}",
        }
        if method != "GET":
            headers["Idempotency-Key"] = options.get("idempotency_key") or key
        if "if_match" in options:
            headers["If-Match"] = options["if_match"]
        return headers

    def read(self, status: int, headers: Mapping[str, str], content: bytes, attempts: int) -> Answer:
        """Returns what an answer says, or raises its error."""
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            body = {}
        found: dict[str, Any] = body  # pyright: ignore[reportUnknownVariableType]
        request_id = str(found.get("request_id") or headers.get("X-Request-Id", ""))
        error = found.get("error")
        if status >= 300 or error:
            if not isinstance(error, dict):
                error = {"code": "unknown", "message": f"the answer is not of the API: {status}"}
            said: dict[str, Any] = {"type": type_of(status), **error}
            said["message"] = str(said.get("message", "")).replace(self._key, f"{self._key[:9]}…")
            raise CLASSES.get(said["type"], ApiError)(status, said, request_id, retry_after(headers), attempts)
        if "data" not in found:
            raise AnswerError("the answer cannot be read", status, request_id)
        replayed = headers.get("Idempotent-Replayed") == "true"
        return Answer(found["data"], found.get("next_cursor"), Response(status, headers, request_id, replayed, attempts))


def again(error: Exception) -> bool:
    """Reports whether a request is to be repeated after an error."""
    if not isinstance(error, ApiError):
        return True
    return (error.status in _RETRIED or error.code == "idempotency_in_progress") and (
        error.retry_after or 0
    ) <= MAX_RETRY_AFTER


def pause(error: Exception, attempt: int) -> float:
    """Returns the seconds to wait for before the next attempt."""
    if isinstance(error, ApiError) and error.retry_after:
        return error.retry_after
    backoff = min(math.ldexp(0.5, attempt - 1), 8.0)
    return backoff / 2 + random.random() * backoff / 2


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Reads the seconds of Retry-After. A time counts by the clock of the service."""
    value = headers.get("Retry-After", "")
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        at = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers["Date"]) if "Date" in headers else datetime.now(timezone.utc)
        return max((at - now).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def fill(path: str, args: Sequence[str]) -> str:
    """Writes the parameters of a path."""
    values = iter(args)

    def one(match: re.Match[str]) -> str:
        value = next(values)
        if not isinstance(value, str) or value in ("", ".", ".."):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(f"{match[1]} is empty")
        return quote(value, safe="")

    return re.sub(r"\{(\w+)\}", one, path)


def query_of(params: Mapping[str, Any] | None) -> dict[str, str]:
    """Writes a query. Several values are separated by commas, and pairs are name[key]."""
    query: dict[str, str] = {}
    for name, value in (params or {}).items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            query.update({f"{name}[{key}]": _text(v) for key, v in value.items()})  # pyright: ignore
        elif isinstance(value, (list, tuple)):
            query[name] = ",".join(_text(v) for v in value)  # pyright: ignore
        else:
            query[name] = _text(value)
    return query


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    return str(value)
