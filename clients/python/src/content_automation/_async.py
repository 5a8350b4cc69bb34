"""The client for async programs. That for sync programs is written from it by `make clients`."""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from typing_extensions import Self, Unpack

from ._async_resources import AsyncResources
from ._errors import AnswerError, ApiError, ConnectionError, FailedError, TimeoutError, WaitTimeoutError
from ._request import (
    MAX_RETRY_AFTER, Answer, Config, Page, RequestOptions, Response, Rule, WaitOptions, again, fill, pause, query_of,
    retry_after,
)  # fmt: skip

if TYPE_CHECKING:
    import httpx

    from ._types import OwnMedia, OwnMediaCreateMimeType

T = TypeVar("T")


class AsyncContentAutomation(AsyncResources):
    """The client of the API. Close it, or use it in `async with`."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        max_retries: int = 2,
        timeout: float = 60.0,
        http_client: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        import httpx  # late, since it takes most of the time of an import

        self._config = Config(api_key, base_url)
        self._retries = max_retries
        self._timeout = timeout
        self._http = http_client or httpx.AsyncClient(follow_redirects=False)
        self._sleep = sleep
        self._now = now
        super().__init__(self)

    def __repr__(self) -> str:
        return f"AsyncContentAutomation({self._config!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def request(
        self,
        method: str,
        path: str,
        args: Sequence[str] = (),
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        **options: Unpack[RequestOptions],
    ) -> tuple[Any, Response]:
        """Calls an operation by its method and path, and returns the data and what came beside it."""
        answer = await self.send(method, path, args, params, body, options)
        return answer.data, answer.response

    async def send(
        self, method: str, path: str, args: Sequence[str], params: Mapping[str, Any] | None, body: Any,
        options: RequestOptions,
    ) -> Answer:  # fmt: skip
        """Sends a request, and repeats it while that may help."""
        url = self._config.base + fill(path, args)
        headers = self._config.headers(method, options, str(uuid.uuid4()))
        retries = options.get("max_retries", self._retries)
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempt(method, url, headers, params, body, options, attempt)
            except (ApiError, ConnectionError, AnswerError) as error:
                if attempt > retries or not again(error):
                    raise
                wait = pause(error, attempt)
            await self._sleep(wait)

    async def _attempt(
        self, method: str, url: str, headers: dict[str, str], params: Mapping[str, Any] | None, body: Any,
        options: RequestOptions, attempt: int,
    ) -> Answer:  # fmt: skip
        import httpx

        limit = options.get("timeout", self._timeout)
        try:
            response = await self._http.request(
                method, url, headers=headers, params=query_of(params) or None, json=body, timeout=limit,
                follow_redirects=False,
            )  # fmt: skip
        except httpx.TimeoutException:
            raise TimeoutError("no answer in time", attempt) from None
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise ConnectionError(f"no answer: {type(error).__name__}", attempt) from None
        return self._config.read(response.status_code, response.headers, response.content, attempt)

    async def call(
        self, method: str, path: str, args: Sequence[str], params: Mapping[str, Any] | None, body: Any,
        options: RequestOptions,
    ) -> Any:  # fmt: skip
        """Calls an operation, and returns its data."""
        return (await self.send(method, path, args, params, body, options)).data

    def pages(
        self, path: str, args: Sequence[str], params: Mapping[str, Any] | None, options: RequestOptions
    ) -> AsyncPages[Any]:
        """Returns a list."""
        return AsyncPages(self, path, args, params, options)

    async def wait(self, path: str, args: Sequence[str], rule: Rule, options: WaitOptions) -> Any:
        """Reads a resource until its work has ended."""
        start, wait = self._now(), 1.0
        while True:
            answer = await self.send("GET", path, args, rule.params, None, options)
            state = str(answer.data[rule.member])
            if state in options.get("until", rule.done):
                return answer.data
            if state in rule.failed:
                raise FailedError(state, answer.data)
            after = retry_after(answer.response.headers)
            following = min(after, MAX_RETRY_AFTER) if after else min(wait, options.get("interval", 10.0))
            if self._now() - start + following > options.get("wait_at_most", 900.0):
                raise WaitTimeoutError(state)
            await self._sleep(following)
            wait *= 1.5

    async def upload(self, file: bytes, mime_type: OwnMediaCreateMimeType, **options: Unpack[RequestOptions]) -> OwnMedia:
        """Brings in a file: creates the media, sends the file to storage and waits until it is ready."""
        digest = hashlib.sha256(file).hexdigest()
        media = await self.media.create({"bytes": len(file), "mime_type": mime_type, "sha256": digest}, **options)
        upload = media.get("upload")
        if upload:
            import httpx

            attempt = 0
            while True:
                attempt += 1
                try:
                    answer = await self._http.request(
                        upload["method"], upload["url"], headers=upload["headers"], content=file, timeout=600.0
                    )
                    if answer.status_code < 300:
                        break
                    error = ConnectionError(f"storage refused the upload: {answer.status_code}", attempt)
                except httpx.RequestError as cause:
                    error = ConnectionError(f"the upload failed: {type(cause).__name__}", attempt)
                if attempt > self._retries:
                    raise error
                await self._sleep(0.5 * attempt)
        return await self.media.wait_for(media["id"])


class AsyncPages(Generic[T]):
    """A list: `async for` reads all pages as it goes on, `page` reads the first one."""

    def __init__(
        self, client: AsyncContentAutomation, path: str, args: Sequence[str], params: Mapping[str, Any] | None,
        options: RequestOptions,
    ) -> None:  # fmt: skip
        self._client = client
        self._path = path
        self._args = args
        self._params = dict(params or {})
        self._options = options

    async def page(self) -> Page[T]:
        """Reads one page."""
        answer = await self._client.send("GET", self._path, self._args, self._params, None, self._options)
        return Page(answer.data, answer.next_cursor)

    async def __aiter__(self) -> AsyncIterator[T]:
        params = dict(self._params)
        while True:
            answer = await self._client.send("GET", self._path, self._args, params, None, self._options)
            if answer.next_cursor and answer.next_cursor == params.get("cursor"):
                response = answer.response
                raise AnswerError("next_cursor is the cursor of the request", response.status, response.request_id)
            for item in answer.data:
                yield item
            if not answer.next_cursor:
                return
            params["cursor"] = answer.next_cursor
