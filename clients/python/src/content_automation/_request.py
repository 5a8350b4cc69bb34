"""What the clients for async and sync programs share: the form of requests, and the reading of answers."""

from __future__ import annotations

import json
import logging
import math
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from typing_extensions import TypedDict

from ._errors import AnswerError, ApiError, ConfigError, bare, class_of, type_of

VERSION = "1.0.0"
MAX_RETRY_AFTER = 60.0
RETRIED = (408, 429, 500, 502, 503, 504)

S = TypeVar("S", bound=str)

_LOGGER = logging.getLogger("content_automation")
_LOGGER.addHandler(logging.NullHandler())


class Response(NamedTuple):
    """What a call returned beside its result."""

    status: int
    headers: Mapping[str, str]
    request_id: str
    replayed: bool
    """Whether this is the response of an earlier request with the same idempotency key."""
    attempts: int
    next_cursor: str | None
    """The cursor of the next page of a list; None on the last one, and for other calls."""


class LogEntry(NamedTuple):
    """What an attempt of a request came to. It has neither the key nor the query and the bodies."""

    level: int
    """logging.INFO, or logging.WARNING for what failed and for what ends: see deprecation."""
    message: str
    """The entry as a line, such as GET /v1/me: 200 in 41 ms (req_…)."""
    method: str
    path: str
    attempt: int
    seconds: float
    status: int | None = None
    """None without an answer."""
    request_id: str = ""
    error: Exception | None = None
    """The error of an attempt that failed."""
    pause: float | None = None
    """The seconds until the request is repeated. None if it is not."""
    deprecation: str | None = None
    """The header Deprecation: what the call uses ends, at the time of the header Sunset."""
    sunset: str | None = None


class RequestOptions(TypedDict, total=False):
    """The options of a call."""

    idempotency_key: str
    """By default each call has a new key, which its repeats share."""
    if_match: str | int
    """Makes a change only if the resource still has this version, or ETag."""
    headers: Mapping[str, str]
    timeout: float
    max_retries: int
    on_response: Callable[[Response], None]
    """Is given what comes beside the result, such as the request id and the headers; for a list, that of each page."""


class WaitOptions(RequestOptions, Generic[S], total=False):
    """The options of a call that waits for work, which may have the states S."""

    until: Sequence[S]
    """The states to wait for, instead of all in which the work has succeeded."""
    interval: float
    """The greatest pause between requests in seconds. The default is 10."""
    wait_at_most: float
    """The seconds after which waiting ends with an error. The default is 900."""


class Rule(NamedTuple):
    """Says when work has ended."""

    member: str
    done: Sequence[str]
    failed: Sequence[str]
    params: Mapping[str, Any] | None = None


class Answer(NamedTuple):
    """A good answer."""

    data: Any
    response: Response


class Config:
    """The checked key and base URL of a client."""

    def __init__(
        self, api_key: str | None, base_url: str | None, allow_insecure: bool, headers: Mapping[str, str] | None,
        log: Callable[[LogEntry], None] | None,
    ) -> None:  # fmt: skip
        api_key = os.environ.get("SVC_API_KEY", "").strip() if api_key is None else api_key
        base_url = os.environ.get("BASE_URL", "").strip() if base_url is None else base_url
        for name, value in (("API key", api_key), ("base URL", base_url)):
            bare(name, value)
        if not api_key:
            raise ConfigError("the API key is empty: give api_key, or set the variable SVC_API_KEY")
        if not re.fullmatch(r"svc_(live|test)_[0-9A-Za-z]{49}", api_key):
            raise ConfigError("the API key is malformed: a key is svc_live_ or svc_test_ and 49 letters and digits")
        if not base_url:
            raise ConfigError("the base URL is missing: give base_url, or set the variable BASE_URL")
        try:
            url = urlsplit(base_url)
            _ = url.port
        except ValueError:  # a port or an address that is none
            url = urlsplit("")
        host = url.hostname or ""
        wrong = url.scheme not in ("http", "https") or not host or "@" in url.netloc
        if wrong or re.search("[?#]", base_url):
            raise ConfigError("the base URL must be a URL such as https://api.example.com")
        local = re.fullmatch(r"localhost|127(\.\d+){3}|::1", host)
        if url.scheme == "http" and api_key.startswith("svc_live_") and not local and not allow_insecure:
            raise ConfigError("the base URL must use https for a live key; for a sandbox, set allow_insecure")
        self._key = api_key
        self._headers = dict(headers or {})
        self._log = log or _write
        self.base = re.sub(r"/v1$", "", base_url.rstrip("/"))

    def __repr__(self) -> str:
        return f"{self.base}, {self._key[:9]}…"

    def headers(self, method: str, options: RequestOptions, key: str) -> dict[str, str]:
        """Returns the headers of a request."""
        own = {
            "Authorization": f"Bearer {self._key}",
            "Accept": "application/json",
            "User-Agent": f"content-automation-python/{VERSION}",
        }
        if (given := options.get("idempotency_key")) is not None:
            own["Idempotency-Key"] = given
        if "if_match" in options:
            own["If-Match"] = _etag(options["if_match"])
        made = {} if method == "GET" else {"Idempotency-Key": key}
        headers: dict[str, str] = {}
        for some in (self._headers, made, options.get("headers", {}), own):
            headers.update({name.title(): value for name, value in some.items()})  # names are the same in any case
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
            if not isinstance(error, dict) or not isinstance(error.get("code"), str):  # pyright: ignore
                error = {"code": "unknown", "message": f"the answer is not of the API: {status}"}
            said: dict[str, Any] = {"type": type_of(status), **error}
            said["message"] = str(said.get("message", "")).replace(self._key, f"{self._key[:9]}…")
            raise class_of(said["type"], status)(status, said, request_id, retry_after(headers), attempts)
        if "data" not in found:
            raise AnswerError("the answer cannot be read", status, request_id)
        replayed = headers.get("Idempotent-Replayed") == "true"
        response = Response(status, headers, request_id, replayed, attempts, found.get("next_cursor"))
        return Answer(found["data"], response)

    def tell(
        self, method: str, url: str, attempt: int, seconds: float, result: Answer | Exception,
        pause: float | None = None,
    ) -> None:  # fmt: skip
        """Tells the hook what an attempt came to."""
        path = urlsplit(url).path
        head, tail = f"{method} {path}: ", f" in {seconds * 1000:.0f} ms"
        if isinstance(result, Exception):
            status, request_id = getattr(result, "status", None), getattr(result, "request_id", "")
            again = "" if pause is None else f"; it is repeated in {pause * 1000:.0f} ms"
            message = f"{head}{result}{tail}{again}"
            level = logging.WARNING
            self._log(LogEntry(level, message, method, path, attempt, seconds, status, request_id, result, pause))
            return
        status, headers, request_id, *_ = result.response
        deprecation, sunset = headers.get("Deprecation"), headers.get("Sunset")
        ends = "; what it uses is deprecated" if deprecation or sunset else ""
        ends += f", and ends at {sunset}" if sunset else ""
        message = f"{head}{status}{tail} ({request_id}){ends}"
        level = logging.WARNING if ends else logging.INFO
        self._log(
            LogEntry(
                level, message, method, path, attempt, seconds, status, request_id,
                deprecation=deprecation, sunset=sunset,
            )  # fmt: skip
        )


def _write(entry: LogEntry) -> None:
    """Writes an entry to the logger of the package."""
    _LOGGER.log(entry.level, "%s", entry.message)


def _etag(version: str | int) -> str:
    """Writes a version as an ETag."""
    return str(version) if re.fullmatch(r'\*|(W/)?".*"', str(version)) else f'"{version}"'


def again(error: Exception) -> bool:
    """Reports whether a request is to be repeated after an error."""
    if not isinstance(error, ApiError):
        return True
    return (error.status in RETRIED or error.code == "idempotency_in_progress") and (
        error.retry_after or 0
    ) <= MAX_RETRY_AFTER


def pause(error: Exception | None, attempt: int) -> float:
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
