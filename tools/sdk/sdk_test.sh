#!/bin/bash
# Follows README's steps for a program without Bazel: unpacks //:sdk, compiles examples/quickstart.cc
# by the line that is written there, and expects what Bazel's own quickstart prints. Once with the
# shared library, once with the static one.
set -euo pipefail

[[ -f switchboard-sdk.tar.gz ]] || { echo "no switchboard-sdk.tar.gz in $PWD" >&2; exit 1; }
export HOME=$TEST_TMPDIR
mkdir -p bazel-bin
ln -sf ../switchboard-sdk.tar.gz bazel-bin/

# The lines behind "## Without Bazel" that are code, but for the build itself.
steps=$(sed -n '/^## Without Bazel$/,/^## In/s/^    //p' README.md | grep -v '^\./bazelw')
grep -q '^g++ ' <<<"$steps"
# What it prints of the tables differs: the SDK has gradients.
before_tables() { sed '/^Why/,$d'; }
wanted=$(examples/quickstart | before_tables)
[[ $wanted == cpu:* ]]

try() {
  local got
  got=$(bash -eu -o pipefail -c "$1")
  grep -q '^demo::blend$' <<<"$got"
  got=$(before_tables <<<"$got")
  if [[ $got != "$wanted" ]]; then
    diff <(echo "$wanted") <(echo "$got") || true
    echo "quickstart printed something else after: $1" >&2
    exit 1
  fi
  rm quickstart
}

try "$steps"
try "${steps//--libs switchboard/--libs switchboard-static}"
