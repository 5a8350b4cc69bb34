"""Starts the local AWS (ministack) with three things set right for this project."""

import socketserver
import sys

from ministack.app import main
from ministack.core import lambda_runtime

# Its Lambda writes each event to a function in two small pieces. With Nagle's
# algorithm the second one waits 40 ms for the acknowledgement of the first.
socketserver.StreamRequestHandler.disable_nagle_algorithm = True

# After each call it waits up to 50 ms for a function's first log line, for the
# sake of the answer's log tail, which nobody asks for here.
lambda_runtime.Worker._drain_stderr_bounded.__defaults__ = (0.001, 0.001, 0.25)


class Tee:
    """A function's output, also written to this process's own as it comes."""

    def __init__(self, stream, name):
        self.stream, self.name = stream, name

    def readline(self):
        line = self.stream.readline()
        if line:
            text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
            sys.stdout.write(f"{self.name} {text.rstrip()}\n")
        return line

    def close(self):
        self.stream.close()


def pump(self, stream, log_queue, original=lambda_runtime.ProvidedWorker._pump_output):
    original(self, Tee(stream, self.func_name), log_queue)


lambda_runtime.ProvidedWorker._pump_output = pump

main()
