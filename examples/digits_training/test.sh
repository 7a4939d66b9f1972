#!/bin/bash
# The perceptron learns, its first losses are PyTorch's, and what it saves is a safetensors file.
set -eu
saved="$TEST_TMPDIR/mlp.safetensors"
examples/train_digits --model=mlp --optimizer=sgd,adam --device=cpu,dummy --save="$saved"
grep -q "mlp.hidden.weight" "$saved"
# The other network agrees on its first steps too; one epoch is not enough to learn, and so it fails.
if out=$(examples/train_digits --model=cnn --device=cpu,dummy --epochs=1); then
  echo "expected a failure after one epoch: $out"
  exit 1
fi
echo "$out"
[ "$(grep -c 'at most: ok' <<<"$out")" = 4 ]
