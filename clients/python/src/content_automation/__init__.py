"""The client of the Content-Automation API.

Types of requests and responses are in the module `content_automation.types`.
"""

from ._async import AsyncContentAutomation, AsyncPage, AsyncPages
from ._errors import (
    AnswerError, ApiConnectionError, ApiError, ApiTimeoutError, AuthenticationError, ConfigError, ConflictError,
    ContentAutomationError, FailedError, Failure, InvalidRequestError, NotFoundError, PaymentError,
    PermissionDeniedError, RateLimitError, ServerError, SignatureError, UploadError, WaitTimeoutError,
)  # fmt: skip
from ._files import File
from ._request import VERSION, LogEntry, RequestOptions, Response, WaitOptions
from ._sync import ContentAutomation, Page, Pages
from ._webhook import Receiver, Signed

__version__ = VERSION
__all__ = [
    "AnswerError", "ApiConnectionError", "ApiError", "ApiTimeoutError", "AsyncContentAutomation", "AsyncPage",
    "AsyncPages", "AuthenticationError", "ConfigError", "ConflictError", "ContentAutomation", "ContentAutomationError",
    "FailedError", "Failure", "File", "InvalidRequestError", "LogEntry", "NotFoundError", "Page", "Pages",
    "PaymentError", "PermissionDeniedError", "RateLimitError", "Receiver", "RequestOptions", "Response", "ServerError",
    "SignatureError", "Signed", "UploadError", "WaitOptions", "WaitTimeoutError",
]  # fmt: skip
