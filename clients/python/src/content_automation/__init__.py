"""The client of the Content-Automation API.

Types of requests and responses are in the module `content_automation.types`.
"""

from ._async import AsyncContentAutomation, AsyncPages
from ._errors import (
    AnswerError, ApiError, AuthenticationError, ConfigError, ConflictError, ConnectionError, ContentAutomationError,
    FailedError, InvalidRequestError, PaymentError, PermissionError, RateLimitError, ServerError, SignatureError,
    TimeoutError, WaitTimeoutError,
)  # fmt: skip
from ._request import VERSION, Page, RequestOptions, Response, WaitOptions
from ._sync import ContentAutomation, Pages
from ._webhook import Receiver

__version__ = VERSION
__all__ = [
    "AnswerError", "ApiError", "AsyncContentAutomation", "AsyncPages", "AuthenticationError", "ConfigError",
    "ConflictError", "ConnectionError", "ContentAutomation", "ContentAutomationError", "FailedError",
    "InvalidRequestError", "Page", "Pages", "PaymentError", "PermissionError", "RateLimitError", "Receiver",
    "RequestOptions", "Response", "ServerError", "SignatureError", "TimeoutError", "WaitOptions", "WaitTimeoutError",
]  # fmt: skip
