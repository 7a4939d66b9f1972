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

# Every other command takes them, too.
out=$("$sb" table writers::add_all --load "$library") || fail "table: $out"
[[ $out == *"writers::add_all(Tensor(a!)[] xs"* ]] || fail "table: expected the schema, got: $out"
[[ $out == *"  layout       needs_exact_strides"* ]] || fail "table: expected the layout, got: $out"
out=$("$sb" ops --load "$library" --facts 'writers::*') || fail "ops: $out"
[[ $out == *"  layout       needs_exact_strides"* ]] || fail "ops: expected the layout, got: $out"
out=$("$sb" explain writers::add_times --load "$library") || fail "explain: $out"
[[ $out == *"writers.cc:"* ]] || fail "explain: expected the kernel's place, got: $out"
echo "ok"
