"""The errors of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._types import ErrorCode, ErrorDetail, ErrorType


class ContentAutomationError(Exception):
    """The base of all errors of this package. Other processes can be given them: they can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, dict(self.__dict__))


def _restored(
    cls: type[ContentAutomationError], args: tuple[Any, ...], state: dict[str, Any]
) -> ContentAutomationError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigError(ContentAutomationError):
    """A client or a call that cannot be made."""


def bare(name: str, value: str) -> None:
    """Refuses a value of a configuration that a file with other line breaks may have left white space on."""
    if value.strip() != value:
        raise ConfigError(f"the {name} has a space or a line break at its start or end")


class SignatureError(ContentAutomationError):
    """A webhook that is not to be trusted."""


class ApiConnectionError(ContentAutomationError):
    """A request without an answer. Make the same call with the same idempotency key again, if its effect matters."""

    def __init__(self, message: str, attempts: int) -> None:
        super().__init__(f"{message} (attempts: {attempts})")
        self.attempts = attempts


class ApiTimeoutError(ApiConnectionError):
    """A request that took too long."""


class UploadError(ContentAutomationError):
    """Storage refused the file of an upload, or kept failing. The media stays pending: upload the file anew."""

    def __init__(self, status: int, code: str, media_id: str, attempts: int) -> None:
        why = f"{status} {code}".strip()
        super().__init__(f"storage refused the file of {media_id}: {why} (attempts: {attempts}); upload it anew")
        self.status = status
        #: The code of storage, such as AccessDenied. It is empty if storage named none.
        self.code = code
        self.media_id = media_id
        self.attempts = attempts


class AnswerError(ContentAutomationError):
    """An answer that is not as the API describes it."""

    def __init__(self, message: str, status: int, request_id: str) -> None:
        super().__init__(f"{message} ({status}, request_id {request_id})")
        self.status = status
        self.request_id = request_id


class Failure(TypedDict):
    """Why work has failed."""

    code: str
    """The machine-readable reason."""
    message: str
    """What happened, and what to do about it."""
    retryable: NotRequired[bool]
    """Whether the same work may succeed if it is asked for again, where the service says so."""


class FailedError(ContentAutomationError):
    """The end of work that has failed, was rejected or canceled."""

    def __init__(self, state: str, resource: Mapping[str, Any]) -> None:
        failure: Failure | None = resource.get("failure") or resource.get("reason")
        why = f": {failure['code']}: {failure['message']}" if failure else ""
        super().__init__(f"{resource.get('id', 'the work')} has ended in the state {state}{why}")
        self.state = state
        #: The resource as it was read last.
        self.resource = resource
        #: The reason. It is None if the resource has none, as canceled work.
        self.failure = failure
        #: The code of the failure, such as generation_failed.
        self.code = failure["code"] if failure else None


class WaitTimeoutError(ContentAutomationError):
    """The end of waiting for work that has not ended."""

    def __init__(self, state: str) -> None:
        super().__init__(f"the work is still in the state {state}")
        self.state = state


class ApiError(ContentAutomationError):
    """An error that the API returned. A newer service may have codes and types that this package does not know."""

    def __init__(
        self, status: int, body: Mapping[str, Any], request_id: str, retry_after: float | None, attempts: int
    ) -> None:
        code, message = str(body.get("code", "unknown")), str(body.get("message", ""))
        super().__init__(f"{status} {code}: {message}" + (f" (request_id {request_id})" if request_id else ""))
        self.status = status
        self.code: ErrorCode | str = code
        self.type: ErrorType | str = str(body.get("type", ""))
        self.message = message
        #: The field that is wrong: a JSON pointer, or the name of a parameter or header.
        self.param: str | None = body.get("param")
        self.details: list[ErrorDetail] = body.get("details") or []
        self.doc_url: str | None = body.get("doc_url")
        #: Data about the error, which depends on the code.
        self.context: Mapping[str, Any] | None = body.get("context")
        self.request_id = request_id
        #: The seconds that the service asks to wait for.
        self.retry_after = retry_after
        self.attempts = attempts


class InvalidRequestError(ApiError):
    """A request that is wrong: 400, 404, 405, 413, 415, 422."""


class NotFoundError(InvalidRequestError):
    """A resource that does not exist, or is not one of the key: 404."""


class AuthenticationError(ApiError):
    """A key that is missing, wrong, expired or revoked: 401."""


class PaymentError(ApiError):
    """A balance that does not suffice: 402."""


class PermissionDeniedError(ApiError):
    """A key that may not: 403."""


class ConflictError(ApiError):
    """A state or version that does not fit: 409, 412."""


class RateLimitError(ApiError):
    """Too many requests: 429."""


class ServerError(ApiError):
    """A failure of the service: 5xx."""


_CLASSES: dict[str, type[ApiError]] = {
    "invalid_request_error": InvalidRequestError,
    "authentication_error": AuthenticationError,
    "payment_error": PaymentError,
    "permission_error": PermissionDeniedError,
    "conflict_error": ConflictError,
    "rate_limit_error": RateLimitError,
    "api_error": ServerError,
}

_TYPES = {
    401: "authentication_error",
    402: "payment_error",
    403: "permission_error",
    409: "conflict_error",
    412: "conflict_error",
    429: "rate_limit_error",
}


def type_of(status: int) -> str:
    """Returns the type of an error whose body does not say it."""
    return _TYPES.get(status) or ("api_error" if status >= 500 else "invalid_request_error")


def class_of(kind: str, status: int) -> type[ApiError]:
    """Returns the class of an error."""
    if status == 404 and kind == "invalid_request_error":
        return NotFoundError
    return _CLASSES.get(kind, ApiError)
