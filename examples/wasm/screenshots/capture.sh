#!/bin/sh
# capture.sh FOLDER NAME [SECONDS] writes what the X display $DISPLAY shows to FOLDER/NAME.png: once, or again and again with
# SECONDS between. It needs xwd, of Debian's x11-apps, and netpbm. Run it as the user whose display it is, outside of wasmres:
# the provider gets to see the folder, and not the display.
set -eu
folder=$1 name=$2 seconds=${3:-}
new=$folder/.$name.$$ # hidden, so that no reader sees half a picture
trap 'rm -f "$new" "$new.xwd"' EXIT
while :; do
  xwd -root -silent -out "$new.xwd"
  xwdtopnm -quiet "$new.xwd" | pnmtopng -quiet >"$new"
  mv "$new" "$folder/$name.png"
  [ -n "$seconds" ] || exit 0
  sleep "$seconds"
done
