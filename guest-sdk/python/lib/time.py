"""Clocks of the host."""

import _wasmres_service as service

from wasmres import abi


def time():
    """Seconds since 1970."""
    return service.info(abi.INFO_WALL_TIME) / 1e9


def time_ns():
    return service.info(abi.INFO_WALL_TIME)


def monotonic():
    """Seconds from an arbitrary start."""
    return service.info(abi.INFO_MONOTONIC) / 1e9


def monotonic_ns():
    return service.info(abi.INFO_MONOTONIC)


perf_counter, perf_counter_ns = monotonic, monotonic_ns
