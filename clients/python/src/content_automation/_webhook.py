"""The verification of webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ._errors import ConfigError, SignatureError, bare

if TYPE_CHECKING:
    from ._types import Event

#: The seconds by which the clock of the service may differ from that of the receiver.
TOLERANCE = 300


class Signed(NamedTuple):
    """A request as the service sends it to a webhook."""

    headers: dict[str, str]
    body: bytes


class Receiver:
    """Verifies the requests that a webhook receives, as Standard Webhooks 1.0 defines.

    It takes the signing secret of the webhook (whsec_…); both, while a secret is replaced.
    """

    def __init__(self, secrets: str | Sequence[str], *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._keys = [_decode(s) for s in ([secrets] if isinstance(secrets, str) else secrets)]
        if not self._keys:
            raise ConfigError("the signing secret is missing")

    def __repr__(self) -> str:
        return f"Receiver({len(self._keys)} secrets)"

    def sign(self, event: Mapping[str, Any] | bytes | str) -> Signed:
        """Signs a body, or an event, with the first secret: for tests of a receiver."""
        body = event.encode() if isinstance(event, str) else event
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        event_id = str(json.loads(body).get("id") or f"evt_{uuid.uuid4().hex}")
        stamp = str(int(self._now()))
        headers = {
            "content-type": "application/json",
            "webhook-id": event_id,
            "webhook-timestamp": stamp,
            "webhook-signature": _signature(self._keys[0], event_id, stamp, body),
        }
        return Signed(headers, body)

    def event(self, headers: Mapping[str, str], body: bytes | str) -> Event:
        """Verifies a request by its headers and its body as it was received, and returns the event."""
        if not isinstance(body, (bytes, bytearray, memoryview, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(
                "the body was parsed already, but its signature is over the bytes as they were received: pass "
                "request.get_data() in Flask, await request.body() in FastAPI, request.body in Django"
            )
        found = {_text(name).lower(): _text(value) for name, value in headers.items()}
        event_id, stamp = found.get("webhook-id"), found.get("webhook-timestamp")
        signatures = found.get("webhook-signature")
        if not event_id or not stamp or not signatures:
            raise SignatureError("a header of the signature is missing")
        # More digits than a time has may be more than int or a float takes.
        if not re.fullmatch("[0-9]{1,12}", stamp):
            raise SignatureError("the timestamp is malformed")
        if abs(self._now() - int(stamp)) > TOLERANCE:
            raise SignatureError("the timestamp is too far from the present")
        content = _encode(body) if isinstance(body, str) else bytes(body)
        for key in self._keys:
            want = _signature(key, event_id, stamp, content).encode()
            if any(hmac.compare_digest(want, _encode(s)) for s in signatures.split()):
                return _event(content)
        raise SignatureError("no signature matches")


def _text(value: object) -> str:
    """Reads the name or the value of a header. Some frameworks give bytes; others than texts are no header."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


def _encode(text: str) -> bytes:
    """Encodes what anybody may have sent: a lone surrogate is no reason to fail, and matches no signature."""
    return text.encode(errors="surrogatepass")


def _event(content: bytes) -> Event:
    try:
        event = json.loads(content)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise SignatureError("the body is no event")
    return cast("Event", event)


def _signature(key: bytes, event_id: str, stamp: str, body: bytes) -> str:
    digest = hmac.new(key, _encode(f"{event_id}.{stamp}.") + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def _decode(secret: str) -> bytes:
    bare("signing secret", secret)
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key or not secret.startswith("whsec_"):
        raise ConfigError("the signing secret is malformed: a secret is whsec_ and base64")
    return key
