"""What typing has."""

import typing


def __getattr__(name):
    return getattr(typing, name)
