#!/bin/bash
# Losses on 1, 2 and 4 ranks are the same to the last bit, PyTorch's within its tolerance, and the network learns.
set -eu
one=$(examples/train_digits --model=mlp --ranks=1)
grep -q "exactly 0x" <<<"$one"
for ranks in 2 4; do
  many=$(examples/train_digits --model=mlp --ranks=$ranks)
  diff <(echo "$one") <(echo "$many")
done
if out=$(examples/train_digits --model=mlp --ranks=3 2>&1); then
  echo "expected an error on three ranks: $out"
  exit 1
fi
grep -q "expected 1, 2 or 4 ranks, got 3" <<<"$out"
