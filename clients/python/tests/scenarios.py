"""Runs the table of scenarios by both clients: python scenarios.py URL [NAME…]."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

import content_automation as sdk

KEY = "svc_test_" + "Ab0" * 16 + "Z"
# Each client would read the certificates anew.
TLS = httpx2.create_ssl_context()
KINDS = [
    (sdk.NotFoundError, "not_found"), (sdk.UploadError, "upload"),
    (sdk.InvalidRequestError, "invalid_request"), (sdk.AuthenticationError, "authentication"),
    (sdk.PaymentError, "payment"), (sdk.PermissionDeniedError, "permission"), (sdk.ConflictError, "conflict"),
    (sdk.RateLimitError, "rate_limit"), (sdk.ServerError, "server"), (sdk.ApiError, "api"),
    (sdk.ApiTimeoutError, "timeout"), (sdk.ApiConnectionError, "connection"), (sdk.AnswerError, "answer"),
    (sdk.FailedError, "failed"), (sdk.WaitTimeoutError, "wait_timeout"), (sdk.ConfigError, "config"),
    (sdk.SignatureError, "signature"),
]  # fmt: skip


def s_key(s: dict[str, Any]) -> str:
    """Returns the key of a scenario, or what no text has."""
    return s.get("key") or KEY


def snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name)


class Pipe(io.RawIOBase):
    """A file that can be read once."""

    def __init__(self, file: io.BytesIO) -> None:
        self.file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.file.readinto(buffer)


class Play:
    """What came of a scenario."""

    def __init__(self, server: str, kind: str, s: dict[str, Any]) -> None:
        self.server, self.kind, self.s = server, kind, s
        self.data: Any = None
        self.ids: list[str] = []
        self.pauses: list[float] = []
        self.error: Exception | None = None
        self.response: sdk.Response | None = None
        self.printed = ""
        self.time = 0.0

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.pauses.append(seconds * 1000)

    async def async_sleep(self, seconds: float) -> None:
        self.sleep(seconds)

    def client(self) -> Any:
        s = self.s
        base = s.get("base", f"{self.server}/s/{self.kind}/{s['name']}") + s.get("base_suffix", "")
        options: dict[str, Any] = {"now": lambda: self.time}
        if s.get("insecure"):
            options["allow_insecure"] = True
        if "retries" in s:
            options["max_retries"] = s["retries"]
        if "timeout_ms" in s:
            options["timeout"] = s["timeout_ms"] / 1000
        key = s.get("key", KEY)
        if self.kind == "python-async":
            own = httpx2.AsyncClient(verify=TLS)
            return sdk.AsyncContentAutomation(key, base, sleep=self.async_sleep, http_client=own, **options)
        return sdk.ContentAutomation(key, base, sleep=self.sleep, http_client=httpx2.Client(verify=TLS), **options)

    def hook(self) -> None:
        w = self.s["webhook"]
        receiver = sdk.Receiver(w["secrets"], now=lambda: float(w["now"]))
        self.data = receiver.event(w["headers"], w["body"].encode())

    def arguments(self, client: Any) -> tuple[Any, list[Any], dict[str, Any]]:
        c = self.s["call"]
        if c.get("mode") == "upload":
            file = io.BytesIO(c["file"].encode())
            return client.upload, [Pipe(file) if c.get("stream") else file, "image/png"], {}
        resource, method = (snake(n) for n in c["op"].split("."))
        if c.get("mode") == "wait":
            method = method.replace("get", "wait_for", 1)
        args = list(c.get("path", []))
        if "body" in c:
            args.append({**c["body"], "script": "x" * c["pad"]} if "pad" in c else c["body"])
        if "params" in c:
            args.append(c["params"])
        options = {k: c[k] for k in ("headers", "idempotency_key", "if_match", "until") if k in c}
        if "wait_ms" in c:
            options["wait_at_most"] = c["wait_ms"] / 1000
        return getattr(getattr(client, resource), method), args, options

    def simple(self) -> bool:
        """Plays what both clients do alike."""
        if "webhook" in self.s:
            self.hook()
            return True
        mode = self.s["call"].get("mode")
        if mode == "client":
            self.client()
        if mode == "print":
            client = self.client()
            self.printed = repr(client) + str(client) + repr(client.content) + repr(client._config.__class__)
        return mode in ("client", "print")

    async def play_async(self) -> None:
        try:
            if self.simple():
                return
            async with self.client() as client:
                sent = self.watch(client)
                for _ in range(self.s["call"].get("times", 1)):
                    method, args, options = self.arguments(client)
                    result = method(*args, **options)
                    if self.s["call"].get("mode") == "all":
                        async for item in result:
                            self.ids.append(item["id"])
                            if len(self.ids) == self.s["call"].get("take"):
                                break
                    else:
                        self.data = await result
                del sent
        except Exception as error:
            self.error = error

    def play_sync(self) -> None:
        try:
            if self.simple():
                return
            with self.client() as client:
                self.watch(client)
                for _ in range(self.s["call"].get("times", 1)):
                    method, args, options = self.arguments(client)
                    result = method(*args, **options)
                    if self.s["call"].get("mode") == "all":
                        for item in result:
                            self.ids.append(item["id"])
                            if len(self.ids) == self.s["call"].get("take"):
                                break
                    else:
                        self.data = result
        except Exception as error:
            self.error = error

    def watch(self, client: Any) -> Any:
        """Keeps the last response."""
        read = client._config.read

        def reading(*args: Any) -> Any:
            answer = read(*args)
            self.response = answer.response
            return answer

        client._config.read = reading
        return client

    def check(self) -> list[str]:
        faults: list[str] = []

        def same(what: str, got: Any, want: Any) -> None:
            if got != want:
                faults.append(f"{what} is {got!r}, want {want!r}")

        expect = self.s["expect"]
        want = expect.get("error")
        if not want and self.error:
            faults.append(f"error: {self.error!r}")
        if want:
            kind = next((name for cls, name in KINDS if isinstance(self.error, cls)), repr(self.error))
            same("kind", kind, want["kind"])
            for name, value in want.items():
                got = getattr(self.error, name, None)
                if name == "details":
                    got = [d["param"] for d in got or []]
                if name == "says":
                    same("what the error says", value in str(self.error), True)
                elif name != "kind":
                    same(name, got, value)
            if "attempts" in expect:
                same("attempts", getattr(self.error, "attempts", None), expect["attempts"])
        elif "attempts" in expect:
            same("attempts", self.response and self.response.attempts, expect["attempts"])
        for name, value in expect.get("data", {}).items():
            same(name, (self.data or {}).get(name), value)
        for name, value in expect.get("length", {}).items():
            same(name, len(self.data[name]), value)
        if "ids" in expect:
            same("ids", self.ids, expect["ids"])
        if "pauses" in expect:
            same("number of pauses", len(self.pauses), len(expect["pauses"]))
            for pause, (low, high) in zip(self.pauses, expect["pauses"]):
                if not low <= pause <= high:
                    faults.append(f"pauses are {self.pauses}")
        if "replayed" in expect:
            same("replayed", self.response and self.response.replayed, expect["replayed"])
        if s_key(self.s) in repr(self.error) + str(self.error) + self.printed:
            faults.append("the key is shown")
        with urllib.request.urlopen(f"{self.server}/report/{self.kind}/{self.s['name']}") as answer:
            faults.extend(json.load(answer)["faults"])
        return [f"{self.kind} {self.s['name']}: {fault}" for fault in faults]


async def main(server: str, names: list[str]) -> int:
    table = [s for s in httpx2.get(f"{server}/scenarios").json() if not names or s["name"] in names]
    both = [Play(server, kind, s) for s in table for kind in ("python-async", "python")]
    with ThreadPoolExecutor(16) as pool:
        loop = asyncio.get_running_loop()
        await asyncio.gather(
            *(p.play_async() if p.kind == "python-async" else loop.run_in_executor(pool, p.play_sync) for p in both)
        )
        faults = [fault for found in pool.map(Play.check, both) for fault in found]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(both) - len({f.split(':')[0] for f in faults})} of {len(both)} scenarios passed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))
