#!/bin/bash
# A program of operators that write, which a shared object brings, functionalised by PyTorch.
set -euo pipefail

sb=$1
library=$2
folder=$(dirname "$0")/writes
fail() { echo "FAIL: $*" >&2; exit 1; }

run() {
  "$sb" run "$folder/writes.pt2" --inputs "$folder/inputs.safetensors" \
    --expect "$folder/outputs.safetensors" "$@" 2>&1
}
out=$(run --load "$library" --device all) || fail "with the operators: $out"
for place in cpu dummy fake; do
  [[ $out == *"$place "* ]] || fail "expected a row for $place, got: $out"
done
if out=$(run); then fail "without the operators: expected an error, got: $out"; fi
[[ $out == *"operator writers::add_times, 2 times"* ]] || fail "what is missing is not said: $out"
echo "ok"
