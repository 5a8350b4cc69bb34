"""The client for async programs. That for sync programs is written from it by `make clients`."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from typing_extensions import Self, Unpack

from ._async_resources import AsyncResources
from ._errors import (
    AnswerError, ApiConnectionError, ApiError, ApiTimeoutError, ConfigError, FailedError, UploadError, WaitTimeoutError,
)  # fmt: skip
from ._files import File, Prepared, code_of, prepare
from ._request import (
    MAX_RETRY_AFTER, RETRIED, Answer, Config, LogEntry, RequestOptions, Response, Rule, WaitOptions, again, fill, pause,
    query_of, retry_after,
)  # fmt: skip

if TYPE_CHECKING:
    import httpx2

    from ._types import MediaUpload, OwnMedia, OwnMediaCreateMimeType

T = TypeVar("T")


class AsyncContentAutomation(AsyncResources):
    """The client of the API. Close it, or use it in `async with`.

    The defaults of the key and the base URL are the variables SVC_API_KEY and BASE_URL. Headers are those of every
    request. The log is given every attempt; the default is the logger content_automation. With allow_insecure, the
    client takes a live key for a base URL without https, such as http://sandbox:8080.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        allow_insecure: bool = False,
        headers: Mapping[str, str] | None = None,
        log: Callable[[LogEntry], None] | None = None,
        max_retries: int = 2,
        timeout: float = 60.0,
        http_client: httpx2.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        import httpx2  # late, since it takes most of the time of an import

        self._config = Config(api_key, base_url, allow_insecure, headers, log)
        self._retries = max_retries
        self._timeout = timeout
        if http_client and not isinstance(http_client, httpx2.AsyncClient):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError("http_client must be an httpx2.AsyncClient: httpx2 has the place of httpx since version 2")
        self._http = http_client or httpx2.AsyncClient(follow_redirects=False)
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
            start = self._now()
            try:
                answer = await self._attempt(method, url, headers, params, body, options, attempt)
            except (ApiError, ApiConnectionError, AnswerError) as error:
                wait = None if attempt > retries or not again(error) else pause(error, attempt)
                self._config.tell(method, url, attempt, self._now() - start, error, wait)
                if wait is None:
                    raise
            else:
                self._config.tell(method, url, attempt, self._now() - start, answer)
                if "on_response" in options:
                    options["on_response"](answer.response)
                return answer
            await self._sleep(wait)

    async def _attempt(
        self, method: str, url: str, headers: dict[str, str], params: Mapping[str, Any] | None, body: Any,
        options: RequestOptions, attempt: int,
    ) -> Answer:  # fmt: skip
        import httpx2

        limit = options.get("timeout", self._timeout)
        try:
            response = await self._http.request(
                method, url, headers=headers, params=query_of(params) or None, json=body, timeout=limit,
                follow_redirects=False,
            )  # fmt: skip
        except httpx2.TimeoutException:
            raise ApiTimeoutError("no answer in time", attempt) from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise ApiConnectionError(f"no answer: {type(error).__name__}", attempt) from None
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

    async def wait(self, path: str, args: Sequence[str], rule: Rule, options: WaitOptions[Any]) -> Any:
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

    async def upload(
        self, file: File, mime_type: OwnMediaCreateMimeType, **options: Unpack[RequestOptions]
    ) -> OwnMedia:
        """Brings in a file: creates the media, sends the file to storage and waits until it is ready.

        The file is bytes, a path, or a file object that is open for reading bytes. It is not read into memory.
        """
        prepared = await asyncio.to_thread(prepare, file)
        with prepared.opened:
            media = await self.media.create(
                {"bytes": prepared.size, "mime_type": mime_type, "sha256": prepared.sha256}, **options
            )
            upload, attempt = media.get("upload"), 0
            while upload:
                attempt += 1
                error = await self._put(media["id"], upload, prepared, attempt)
                if error is None:
                    break
                if attempt > self._retries or isinstance(error, UploadError) and error.status not in RETRIED:
                    raise error
                await self._sleep(pause(None, attempt))
        return await self.media.wait_for(media["id"])

    async def _put(
        self, media_id: str, upload: MediaUpload, file: Prepared, attempt: int
    ) -> UploadError | ApiConnectionError | None:
        """Sends a file to storage. The request is signed, and has no API key."""
        import httpx2

        async def parts() -> AsyncIterator[bytes]:
            for part in file.parts():
                yield part

        headers = {**upload["headers"], "Content-Length": str(file.size)}
        try:
            answer = await self._http.request(
                upload["method"], upload["url"], headers=headers, content=parts(), timeout=600.0, follow_redirects=False
            )
        except httpx2.RequestError as cause:
            return ApiConnectionError(f"the upload got no answer: {type(cause).__name__}", attempt)
        if answer.status_code < 300:
            return None
        return UploadError(answer.status_code, code_of(answer.text), media_id, attempt)


class AsyncPage(Generic[T]):
    """A page of a list."""

    def __init__(self, pages: AsyncPages[T], answer: Answer) -> None:
        self._pages = pages
        self.items: list[T] = answer.data
        #: The cursor of the next page; None on the last one.
        self.next_cursor = answer.response.next_cursor
        #: The request id, and headers such as RateLimit.
        self.response = answer.response

    async def next_page(self) -> AsyncPage[T] | None:
        """Reads the next page. After the last one it returns None."""
        return await self._pages.page(self.next_cursor) if self.next_cursor else None


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

    async def page(self, cursor: str | None = None) -> AsyncPage[T]:
        """Reads the first page, or that of a cursor."""
        params = {**self._params, "cursor": cursor} if cursor else self._params
        answer = await self._client.send("GET", self._path, self._args, params, None, self._options)
        following = answer.response.next_cursor
        if following and following == params.get("cursor"):
            response = answer.response
            raise AnswerError("next_cursor is the cursor of the request", response.status, response.request_id)
        return AsyncPage(self, answer)

    async def to_list(self, limit: int | None = None) -> list[T]:
        """Reads all pages, or the first `limit` elements."""
        found: list[T] = []
        if limit is not None and limit <= 0:
            return found
        async for item in self:
            found.append(item)
            if len(found) == limit:
                break
        return found

    async def __aiter__(self) -> AsyncIterator[T]:
        page: AsyncPage[T] | None = await self.page()
        seen: set[str] = set()
        while page:
            for item in page.items:
                yield item
            if page.next_cursor in seen:
                raise AnswerError("next_cursor came before", page.response.status, page.response.request_id)
            if page.next_cursor:
                seen.add(page.next_cursor)
            page = await page.next_page()
