#!/bin/bash
# The digits are those that PyTorch's network sees in the first samples, each call is counted, and the
# fake run takes what `sb run` says it takes.
set -euo pipefail

expect() {
  grep -qF -- "$1" <<<"$out" || { printf '%s\nexpected: %s\n' "$out" "$1" >&2; exit 1; }
}

out=$(examples/run_exported)
expect "addmm_1 is float32[32, 10] on cpu"
expect "its largest: tensor([7, 6, 3, 7, 7, 3,"
expect "2  aten::addmm"
expect "device='cuda:0', size=(32, 10)), 43816 bytes at most"

out=$(examples/run_exported examples/tiny_bert)
expect "device='cuda:0', size=(2, 12, 99))"

if out=$(examples/run_exported nowhere 2>&1); then
  echo "a folder that is not there was run" >&2
  exit 1
fi
expect "nowhere: no such file or folder"
