#!/bin/sh
# Makes the repository of the recorded session and of the tests: sh tests/repository.sh FOLDER
# Names and times are fixed, so that the same commits come out wherever it runs. Half of it is packed.
set -eu
mkdir -p "$1"
cd "$1"
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME='Ada Lovelace' GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME='Charles Babbage' GIT_COMMITTER_EMAIL=charles@example.org
minute=10
later() { # each commit is a minute after the one before
  export GIT_AUTHOR_DATE="2026-11-20T10:$minute:00+01:00" GIT_COMMITTER_DATE="2026-11-20T10:$minute:30+01:00"
  minute=$((minute + 1))
}
commit() { # commit MESSAGE [-m PARAGRAPH...]
  later
  git add -A
  git commit -q -m "$@"
}

git init -q -b main .
mkdir -p src/deep notes
printf '# Small\n\nA repository of a few commits.\n' > README.md
printf 'Do what you like.\n' > LICENSE
printf 'package main\n\nfunc main() {\n\tprintln("hello")\n}\n' > src/main.go
seq 1 200 > src/deep/numbers.txt
printf 'an idea\n' > 'notes/an idea.md'
printf 'caf\351\n' > notes/latin1.txt
commit 'Begin' -m 'With a file or two.'
git tag -a v1.0 -m 'The first version'

git checkout -q -b feature/greeting
sed -i 's/hello/good morning/' src/main.go
commit 'Greet in the morning'

git checkout -q main
sed -i 's/^100$/one hundred/' src/deep/numbers.txt
git mv LICENSE COPYING
printf '\211PNG\r\n\032\n\000\001' > logo.png
ln -s src/main.go entry
commit 'Add a logo, rename the license'

later
git merge -q --no-ff -m 'Merge feature/greeting' feature/greeting
git tag v1.1
git gc -q

git rm -q notes/latin1.txt
chmod +x src/main.go
commit 'Größe: tidy up'
