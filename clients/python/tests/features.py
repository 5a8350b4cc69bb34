"""Tests what the table of scenarios does not: python features.py."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import io
import json
import logging
import os
import pickle
import tempfile
import time
import tracemalloc
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import httpx2

import content_automation as sdk

KEY = "svc_test_" + "Ab0" * 16 + "Z"
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
Respond = Callable[[httpx2.Request], "tuple[int, dict[str, Any], dict[str, str]]"]


def faked(answer: Respond, **options: Any) -> tuple[sdk.ContentAutomation, list[httpx2.Request]]:
    """Returns a client whose requests a function answers, and the requests."""
    sent: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        status, body, headers = answer(request)
        whole = {"data": None, "error": None, "request_id": f"req_{len(sent)}", **body}
        return httpx2.Response(status, json=whole, headers=headers)

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    return sdk.ContentAutomation(KEY, "http://localhost:1", http_client=http, sleep=lambda _: None, **options), sent


def pages(request: httpx2.Request) -> tuple[int, dict[str, Any], dict[str, str]]:
    at = int(request.url.params.get("cursor", 0))
    items = [{"id": f"{at}a"}, {"id": f"{at}b"}]
    return 200, {"data": items, "next_cursor": str(at + 1) if at < 2 else None}, {"RateLimit": "r=9;t=3"}


class Features(unittest.TestCase):
    def test_a_list_is_read_by_pages_and_into_a_list(self) -> None:
        client, sent = faked(pages)
        page = client.content.list().page()
        self.assertEqual((page.items[1]["id"], page.next_cursor), ("0b", "1"))
        self.assertEqual((page.response.request_id, page.response.headers["RateLimit"]), ("req_1", "r=9;t=3"))
        following = page.next_page()
        assert following
        last = following.next_page()
        assert last
        self.assertEqual((last.items[0]["id"], last.next_page(), len(sent)), ("2a", None, 3))
        self.assertEqual([i["id"] for i in client.content.list().to_list()], ["0a", "0b", "1a", "1b", "2a", "2b"])
        self.assertEqual(len(client.content.list().to_list(3)), 3)
        self.assertEqual((client.content.list().to_list(0), len(sent)), ([], 8))

    def test_the_response_of_any_call_can_be_seen(self) -> None:
        client, _ = faked(pages)
        seen: list[sdk.Response] = []
        for _ in client.content.list(on_response=seen.append):
            pass
        self.assertEqual([(r.request_id, r.next_cursor) for r in seen], [("req_1", "1"), ("req_2", "2"), ("req_3", None)])

    def test_key_and_address_come_from_the_environment(self) -> None:
        with mock.patch.dict(os.environ, {"SVC_API_KEY": KEY, "BASE_URL": "http://localhost:7"}):
            self.assertIn("http://localhost:7, svc_test_…", repr(sdk.ContentAutomation()))
            self.assertIn("http://localhost:7, svc_test_…", repr(sdk.AsyncContentAutomation()))
            with self.assertRaisesRegex(sdk.ConfigError, "SVC_API_KEY"):
                sdk.ContentAutomation("")
            del os.environ["BASE_URL"]
            with self.assertRaisesRegex(sdk.ConfigError, "BASE_URL"):
                sdk.ContentAutomation()

    def test_white_space_of_a_file_with_other_line_breaks(self) -> None:
        for end in ("\r", "\r\n", " "):
            with mock.patch.dict(os.environ, {"SVC_API_KEY": KEY + end, "BASE_URL": f"http://localhost:7{end}"}):
                self.assertIn("(http://localhost:7, svc_test_…)", repr(sdk.ContentAutomation()))
            for name, make in (
                ("API key", lambda: sdk.ContentAutomation(KEY + end, "http://localhost:1")),
                ("base URL", lambda: sdk.ContentAutomation(KEY, f"http://localhost:1{end}")),
                ("signing secret", lambda: sdk.Receiver(SECRET + end)),
            ):
                with self.assertRaisesRegex(sdk.ConfigError, f"the {name} has a space or a line break at its"):
                    make()

    def test_every_attempt_is_told(self) -> None:
        log: list[sdk.LogEntry] = []

        def answer(request: httpx2.Request) -> tuple[int, dict[str, Any], dict[str, str]]:
            if not log:
                return 503, {"error": {"code": "timeout", "type": "api_error", "message": "m"}}, {}
            return 200, {"data": {}}, {"Deprecation": "@1795255200", "Sunset": "Thu, 01 Jul 2027 00:00:00 GMT"}

        client, sent = faked(answer, log=log.append, headers={"X-Team": "a", "X-Trace": "all"})
        client.content.get("cnt_1", headers={"X-Trace": "one"})
        told = [(e.level, e.status, e.attempt, e.request_id, e.path) for e in log]
        path = "/v1/content-items/cnt_1"
        self.assertEqual(told, [(logging.WARNING, 503, 1, "req_1", path), (logging.WARNING, 200, 2, "req_2", path)])
        self.assertIsInstance(log[0].error, sdk.ServerError)
        self.assertGreater(log[0].pause or 0, 0.2)
        self.assertEqual((log[1].deprecation, log[1].sunset), ("@1795255200", "Thu, 01 Jul 2027 00:00:00 GMT"))
        self.assertIn("deprecated, and ends at Thu, 01 Jul 2027", log[1].message)
        self.assertEqual((sent[0].headers["X-Team"], sent[0].headers["X-Trace"]), ("a", "one"))
        self.assertNotIn(KEY, repr(log))

    def test_without_a_hook_the_logger_is_told(self) -> None:
        client, _ = faked(lambda _: (200, {"data": {}}, {"Deprecation": "@1795255200"}))
        with self.assertLogs("content_automation", logging.WARNING) as caught:
            client.account.get()
        self.assertIn("GET /v1/me: 200", caught.output[0])

    def test_errors_can_be_pickled(self) -> None:
        body = {"code": "not_found", "type": "invalid_request_error", "message": "m", "details": [{"param": "/a"}]}
        for error in (
            sdk.NotFoundError(404, body, "req_1", 3.0, 2), sdk.ApiTimeoutError("no answer", 2),
            sdk.UploadError(403, "AccessDenied", "med_1", 1), sdk.AnswerError("odd", 200, "req_1"),
            sdk.FailedError("failed", {"id": "cnt_1", "failure": {"code": "c", "message": "m"}}),
            sdk.WaitTimeoutError("queued"), sdk.ConfigError("wrong"), sdk.SignatureError("wrong"),
        ):  # fmt: skip
            copy = pickle.loads(pickle.dumps(error))
            self.assertIs(type(copy), type(error))
            self.assertEqual((str(copy), copy.args, vars(copy)), (str(error), error.args, vars(error)))

    def test_no_builtin_is_shadowed(self) -> None:
        import builtins

        self.assertEqual([name for name in sdk.__all__ if hasattr(builtins, name)], [])

    def test_a_signed_test_event_is_verified_and_a_parsed_one_says_what_to_do(self) -> None:
        receiver = sdk.Receiver(SECRET)
        headers, body = receiver.sign({"id": "evt_1", "type": "content.generated"})
        self.assertEqual((headers["webhook-id"], receiver.event(headers, body)["type"]), ("evt_1", "content.generated"))
        self.assertEqual(receiver.event(headers, body.decode())["id"], "evt_1")
        with self.assertRaises(sdk.SignatureError):
            receiver.event(headers, body + b" ")
        with self.assertRaisesRegex(sdk.ConfigError, r"get_data\(\) in Flask, await request.body\(\) in FastAPI"):
            receiver.event(headers, json.loads(body))

    def test_an_odd_request_without_a_signature_is_a_signature_error(self) -> None:
        receiver = sdk.Receiver(SECRET)
        headers, body = receiver.sign({"id": "evt_1", "type": "content.generated"})
        changes: list[dict[str, Any]] = [
            {"webhook-timestamp": "9" * 400}, {"webhook-timestamp": "9" * 5000}, {"webhook-timestamp": "-1"},
            {"webhook-timestamp": "٣٤"}, {"webhook-timestamp": "²"}, {"webhook-timestamp": "1e9"},
            {"webhook-timestamp": headers["webhook-timestamp"] + "\n"}, {"webhook-timestamp": "\ud800"},
            {"webhook-timestamp": None}, {"webhook-timestamp": 5}, {"webhook-timestamp": ["5"]}, {"webhook-id": "\ud800"},
            {"webhook-id": b"\xff"}, {"webhook-signature": "v1,\ud800"}, {"webhook-signature": "v1,é"},
            {"webhook-signature": "v1,"}, {"webhook-signature": " "}, {"webhook-signature": b"v1,\xff"}, {5: "x", "webhook-id": ""},
        ]  # fmt: skip
        for change in changes:
            with self.subTest(change=repr(change)[:60]), self.assertRaises(sdk.SignatureError):
                receiver.event({**headers, **change}, body)
        for text in ("\ud800", "", "\ufeff" + body.decode()):
            with self.subTest(text=repr(text)), self.assertRaises(sdk.SignatureError):
                receiver.event(headers, text)
        raw: Any = {name.encode(): value.encode() for name, value in headers.items()}
        self.assertEqual(receiver.event(raw, body)["id"], "evt_1")

    def test_a_signed_body_that_is_no_event_is_a_signature_error(self) -> None:
        stamp = str(int(time.time()))
        for body in (b"", b"null", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b"9" * 5000):
            key = base64.b64decode(SECRET[6:])
            digest = hmac.new(key, f"evt_1.{stamp}.".encode() + body, hashlib.sha256).digest()
            signature = "v1," + base64.b64encode(digest).decode()
            headers = {"webhook-id": "evt_1", "webhook-timestamp": stamp, "webhook-signature": signature}
            with self.subTest(body=body[:9]), self.assertRaisesRegex(sdk.SignatureError, "no event"):
                sdk.Receiver(SECRET).event(headers, body)

    def test_a_client_of_the_library_before_is_refused(self) -> None:
        class Before:
            """As httpx.Client: its errors are not those of httpx2."""

        with self.assertRaisesRegex(sdk.ConfigError, r"http_client must be an httpx2\.Client"):
            sdk.ContentAutomation(KEY, "http://localhost:1", http_client=Before())  # type: ignore[arg-type]
        with self.assertRaisesRegex(sdk.ConfigError, r"http_client must be an httpx2\.AsyncClient"):
            sdk.AsyncContentAutomation(KEY, "http://localhost:1", http_client=httpx2.Client())  # type: ignore[arg-type]

    def test_an_upload_is_not_held_in_memory(self) -> None:
        size, got = 100 << 20, [0]

        def head(request: httpx2.Request) -> httpx2.Response:
            if request.method == "PUT":
                assert request.headers["Content-Length"] == str(size)
                return httpx2.Response(200)
            upload = {"url": "http://localhost:1/put", "method": "PUT", "headers": {}}
            state = "ready" if request.method == "GET" else "pending"
            return httpx2.Response(200, json={"data": {"id": "med_1", "state": state, "upload": upload}})

        class Transport(httpx2.BaseTransport):
            def handle_request(self, request: httpx2.Request) -> httpx2.Response:
                got[0] += sum(len(part) for part in request.stream if request.method == "PUT")  # type: ignore[union-attr]
                return head(request)

        class AsyncTransport(httpx2.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                if request.method == "PUT":
                    async for part in request.stream:  # type: ignore[union-attr]
                        got[0] += len(part)
                return head(request)

        class Pipe(io.RawIOBase):
            left = size

            def readable(self) -> bool:
                return True

            def readinto(self, buffer: Any) -> int:
                n = min(self.left, len(buffer))
                self.left -= n
                return n

        client = sdk.ContentAutomation(KEY, "http://localhost:1", http_client=httpx2.Client(transport=Transport()))
        with tempfile.TemporaryDirectory() as folder:
            film = Path(folder, "film.mp4")
            with film.open("wb") as file:
                file.truncate(size)
            tracemalloc.start()
            client.upload(film, "video/mp4")
            client.upload(Pipe(), "video/mp4")  # type: ignore[arg-type]

            async def run() -> None:
                http = httpx2.AsyncClient(transport=AsyncTransport())
                async with sdk.AsyncContentAutomation(KEY, "http://localhost:1", http_client=http) as one:
                    with film.open("rb") as file:
                        await one.upload(file, "video/mp4")

            asyncio.run(run())
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        self.assertEqual(got[0], 3 * size)
        self.assertLess(most, 16 << 20)


if __name__ == "__main__":
    unittest.main()
