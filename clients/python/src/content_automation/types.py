"""The types of requests and responses."""

from ._types import *  # noqa: F403
