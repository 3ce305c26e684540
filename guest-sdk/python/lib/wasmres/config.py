"""What the operator has configured."""

import _wasmres_service as service

from . import abi
from .failure import failure_of


def config(key, default=None):
    """A value of the configuration."""
    answer = service.call(abi.SERVICE_CONFIG, "s", (key,), "s")
    if not isinstance(answer, int):
        return answer[0] or ""
    if answer in (abi.CODE_NOT_FOUND, abi.CODE_DENIED):
        return default
    raise failure_of(answer, "the configuration of " + key + " cannot be read")


def env(name, default=None):
    """A variable of the environment that wasmres runs in, if the operator granted it."""
    return config("env:" + name, default)
