#!/bin/bash
# Follows README's steps for a program without Bazel: unpacks //:sdk, compiles examples/quickstart.cc
# by the line that is written there, and expects what Bazel's own quickstart prints. The same for
# examples/run_exported.cc. Once with the shared library, once with the static one.
set -euo pipefail

[[ -f switchboard-sdk.tar.gz ]] || { echo "no switchboard-sdk.tar.gz in $PWD" >&2; exit 1; }
export HOME=$TEST_TMPDIR
mkdir -p bazel-bin
ln -sf ../switchboard-sdk.tar.gz bazel-bin/

# The lines behind "## Without Bazel" that are code, but for the build itself.
steps=$(sed -n '/^## Without Bazel$/,/^## In/s/^    //p' README.md | grep -v '^\./bazelw')
grep -q '^g++ ' <<<"$steps"
# What quickstart prints of the tables differs: the SDK has gradients.
before_tables() { sed '/^Why/,$d'; }

# try PROGRAM STEPS: by these steps the program is compiled, and prints what Bazel's own does.
try() {
  local wanted got
  wanted=$("examples/$1" | before_tables)
  [[ -n $wanted ]]
  got=$(bash -eu -o pipefail -c "$2")
  [[ $1 != quickstart ]] || grep -q '^demo::blend$' <<<"$got"
  got=$(before_tables <<<"$got")
  if [[ $got != "$wanted" ]]; then
    diff <(echo "$wanted") <(echo "$got") || true
    echo "$1 printed something else after: $2" >&2
    exit 1
  fi
  rm "$1"
}

for program in quickstart run_exported; do
  these=${steps//quickstart/$program}
  try "$program" "$these"
  try "$program" "${these//--libs switchboard/--libs switchboard-static}"
done
