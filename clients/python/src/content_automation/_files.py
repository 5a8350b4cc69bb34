"""The files of uploads."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, NamedTuple, Union

from typing_extensions import TypeAlias

#: A file to upload: its bytes, its path, or a file object, which is read from where it stands.
File: TypeAlias = Union[bytes, "os.PathLike[str]", IO[bytes]]

_PART = 1 << 20


class Prepared(NamedTuple):
    """A file whose size and hash are known."""

    content: IO[bytes]
    start: int
    size: int
    sha256: str
    opened: ExitStack

    def parts(self) -> Iterator[bytes]:
        """Reads the file from its start, in parts."""
        self.content.seek(self.start)
        while part := self.content.read(_PART):
            yield part


def prepare(file: File) -> Prepared:
    """Opens a file. What cannot be read twice, as a pipe, goes to a temporary file first."""
    opened = ExitStack()
    try:
        if isinstance(file, bytes):
            content: IO[bytes] = io.BytesIO(file)
        elif isinstance(file, os.PathLike):
            content = opened.enter_context(open(file, "rb"))
        elif file.seekable():
            content = file
        else:
            content = opened.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(file, content, _PART)
            content.seek(0)
        start, size, digest = content.tell(), 0, hashlib.sha256()
        while part := content.read(_PART):
            size += len(part)
            digest.update(part)
    except BaseException:
        opened.close()
        raise
    return Prepared(content, start, size, digest.hexdigest(), opened)


def code_of(text: str) -> str:
    """Returns the code in an error of storage, such as AccessDenied."""
    found = re.search(r"<Code>(\w+)</Code>", text)
    return found[1] if found else ""
