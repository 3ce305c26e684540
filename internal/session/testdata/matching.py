"""Matches URIs as a table says, whose path is argv[1]: see testdata/uritemplate/match.txt."""

import sys

from wasmres.matching import find

rows = [line.rstrip("\n") for line in open(sys.argv[1], encoding="utf-8") if not line.startswith("# ")]
for row in rows:
    templates, uri = row.split("\t")[:2]
    index, values = find(templates.split(" "), uri) or (-1, {})
    got = [templates, uri, str(index + 1)] + [f"{name}={v}" for name, all in values.items() for v in all]
    if "\t".join(got) != row:
        sys.exit(f"got {got}, want {row}")
if len(rows) < 400:
    sys.exit(f"the table has {len(rows)} rows")
