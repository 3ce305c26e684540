"""One operation of a provider, and what it asks and answers."""

import json
import threading

from .. import abi, native, serve
from ..failure import Failure, failure_of
from .answer import Content
from .paths import granted

_running = threading.RLock()  # one operation at a time in a process


class Operation:
    def __init__(self, client):
        self.client = client
        self.fields = []  # of the reply
        self.contents = []
        self.asked = {}  # the fields of the request
        self.context = None  # what the SDK keeps for it
        self.fault = None  # the error that is no failure
        self._bytes = b""  # beside the last answer of a service

    def run(self, op, fields):
        self.asked = fields
        with _running:
            before, native.call, serve._provider = (native.call, serve._provider), self, self.client.app
            try:
                with granted(self.client.services):
                    code = native.operations(op, fields)
            finally:
                native.call, serve._provider = before
        for content in self.contents:
            content.finish()
        if code != abi.CODE_OK:
            self._fail(code)

    def _fail(self, code):
        error = dict(self.all(5)[0]) if self.all(5) else {}
        if self.fault:
            raise Failure(error.get(1, "the provider failed"), code=code) from self.fault
        failure = failure_of(code, error.get(1, ""))
        failure.data = json.loads(error[2]) if error.get(2) else None
        failure.retry_after = error[3] / 1000 if error.get(3) else None
        raise failure

    def all(self, number):
        return [value for n, value in self.fields if n == number]

    def one(self, number, default=None):
        found = self.all(number)
        return found[-1] if found else default

    # What native asks for.

    def emit(self, fields):
        self.fields += fields
        self.contents += [Content(value) for number, value in fields if number == 3]
        return abi.SIGNAL_MORE

    def body(self, data):
        self.contents[-1].parts.append(data)
        return abi.SIGNAL_MORE

    def ask(self, number, fields):
        answer, self._bytes = self.client.services.answer(number, fields)
        return answer

    def take(self, length):
        return self._bytes[:length]

    def log(self, level, text):
        self.client.logs.append((level, text))
        print(text)

    def info(self, number):
        return {abi.INFO_DEADLINE: 60_000_000_000, abi.INFO_MAX_BODY: 64 << 20}.get(number, 0)
