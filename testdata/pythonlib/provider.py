"""What the library of the sandbox gives for cases that CPython runs, too."""

import case_builtins
import case_classes
import case_dates
import case_enums
import case_files
import case_more
import case_re
import case_sql
import case_text
import case_tools
import case_urls
import case_web
import clients
from report import report
from wasmres import Provider

asks = [{"name": name, "optional": True} for name in ("fs", "http", "sql")]
app = Provider("pythonlib", version="1.0.0", prefixes=["case://"], asks=asks)
modules = {
    "case_builtins": case_builtins,
    "case_classes": case_classes,
    "case_dates": case_dates,
    "case_enums": case_enums,
    "case_files": case_files,
    "case_more": case_more,
    "case_re": case_re,
    "case_sql": case_sql,
    "case_text": case_text,
    "case_tools": case_tools,
    "case_urls": case_urls,
    "case_web": case_web,
}


@app.resource("case://{name}")
def run(name):
    return report(modules[name].CASES)


@app.resource("case://clients")
def run_clients():
    clients.check()
    return "as they should"
