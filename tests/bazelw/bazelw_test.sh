#!/bin/bash
# bazelw, with a Bazel and an apt-get that only say how they were called.
# shellcheck disable=SC2016  # what stands in single quotes is for the scripts that are written here
set -euo pipefail

root=$(pwd -P)
bazelw=$root/bazelw
list=$root/third_party/debian-packages.txt
cd "$TEST_TMPDIR"

script() { # script NAME LINE...: an executable NAME of these lines
  local name=$1
  shift
  printf '%s\n' '#!/bin/sh' "$@" >"$name"
  chmod +x "$name"
}

expect() { # expect WHAT WANTED GOT
  [[ $2 == "$3" ]] || { printf 'FAILED: %s\nwanted: %s\ngot: %s\n' "$1" "$2" "$3"; exit 1; }
}

script bazel 'echo "in $(pwd -P)"; for word; do echo "<$word>"; done; exit 7'
export BAZEL=$PWD/bazel
touch installed
echo "here $PWD/installed" >complete
printf '%s\n' '# a comment' '' "here $PWD/installed" "gone-dev $PWD/gone" "lost-dev $PWD/lost" >lacking

# Arguments and exit status are handed over as they are; from outside, the workspace is found.
status=0
got=$(BAZELW_PACKAGES=complete "$bazelw" run --config=asan //a:b -- 'two words' '$x' '*' '') ||
  status=$?
expect "exit status" 7 "$status"
expect "arguments" "in $root
<run>
<--config=asan>
<//a:b>
<-->
<two words>
<\$x>
<*>
<>" "$got"

# A folder of the workspace stays the current one: it is what `bazel run` hands on.
mkdir -p house/third_party house/room
cp "$bazelw" house/bazelw
cp complete house/third_party/debian-packages.txt
expect "current folder" "in $(pwd -P)/house/room" "$(cd house/room; ../bazelw || true)"

# Without apt-get: says which packages, and fails before Bazel.
status=0
got=$(BAZELW_PACKAGES=lacking BAZELW_APT_GET=no-such-apt-get "$bazelw" build 2>&1) || status=$?
expect "exit status without apt-get" 1 "$status"
expect "missing packages" "bazelw: missing packages: gone-dev lost-dev" "$(head -n 1 <<<"$got")"

# With apt-get: installs them without a question, and goes on to Bazel.
script apt-get 'echo "$DEBIAN_FRONTEND $*" >>apt.log'
script sudo 'while [ "$1" = -n ]; do shift; done; exec "$@"'
script apt-cache 'exit 0'
got=$(PATH=$PWD:$PATH BAZELW_PACKAGES=lacking "$bazelw" build 2>/dev/null) || true
expect "apt-get" "noninteractive install -q -y --no-install-recommends gone-dev lost-dev" \
  "$(cat apt.log)"
expect "Bazel afterwards" "<build>" "$(tail -n 1 <<<"$got")"

# When apt-get fails even after an update, so does bazelw.
script apt-get 'echo "$1" >>apt.log; [ "$1" = update ]'
: >apt.log
status=0
PATH=$PWD:$PATH BAZELW_PACKAGES=lacking "$bazelw" build >/dev/null 2>&1 || status=$?
expect "exit status after a failed installation" 1 "$status"
expect "second attempt" "install update install" "$(tr '\n' ' ' <apt.log | sed 's/ $//')"

# The real list has a package and a path in each line.
expect "lines of the list" "" "$(grep -vE '^(#.*|[a-z0-9.+-]+ +/[^ ]+)$' "$list" || true)"
