#!/bin/sh
# Draws each *.d2 of this folder as an SVG, for light and dark backgrounds. The last line of an SVG has the digest of the sources:
# a test of internal/archtest compares it.
# D2 names another command than go run, as one that is installed.
set -eu
cd "$(dirname "$0")"
for source in *.d2; do
  name=${source%.d2}
  [ "$name" != style ] || continue
  ${D2:-go run oss.terrastruct.com/d2@v0.7.1} "$source" "$name.svg"
  printf '\n<!-- sources: %s -->\n' "$(cat style.d2 "$source" | sha256sum | cut -d' ' -f1)" >> "$name.svg"
  chmod 644 "$name.svg"
done
