#!/bin/bash
# A program of map, scan, out_dtype and print, as PyTorch saves it, on every device.
set -euo pipefail

sb=$1
folder=$(dirname "$0")/functions
fail() { echo "FAIL: $*" >&2; exit 1; }

out=$("$sb" run "$folder/functions.pt2" --inputs "$folder/inputs.safetensors" \
  --expect "$folder/outputs.safetensors" --device all 2>&1) || fail "$out"
for place in cpu dummy fake; do
  [[ $out == *"$place "* ]] || fail "expected a row for $place, got: $out"
done
[[ $out == *"counts tensor([100,  -7], dtype=torch.int8)"* ]] || fail "nothing is printed: $out"
echo "ok"
