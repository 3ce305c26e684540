"""Prints what CPython gives for the cases of a module."""

import importlib
import sys

from report import report

sys.stdout.reconfigure(encoding="utf-8", errors="surrogatepass")
print(report(importlib.import_module(sys.argv[1]).CASES), end="")
