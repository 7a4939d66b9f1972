#!/bin/bash
# What `sb run --dim` and `sb check` say of a network with open batch and length.
set -uo pipefail
sb=$1
model=examples/tiny_bert
failed=0

expect() { # status text command...
  local status=$1 text=$2 out got
  shift 2
  out=$("$sb" "$@" 2>&1)
  got=$?
  if ((got != status)) || [[ $out != *"$text"* ]]; then
    echo "FAILED: sb $*: expected status $status and '$text', got $got and:"
    echo "$out"
    failed=1
  fi
}

expect 0 "s43 = 7, s53 = 33, s72 = 7" run $model --form dynamic --dim batch=7 --dim seq=33 --device cpu
expect 0 "ok: every value" run $model --form dynamic --dim s72=3,s43=3 --dim input_ids.1=5 --device fake
expect 2 "<= 64, got" run $model --form dynamic --dim seq=65
expect 2 ">= 2, got" run $model --form dynamic --dim batch=1
expect 2 "'height' is no dynamic size of this program" run $model --form dynamic --dim height=1
expect 2 "is no dynamic size" run $model --dim batch=7
expect 2 "--form: expected one of core, training" run $model --form tiny
expect 0 "ok: everything that this program needs is here" check $model --form dynamic
expect 0 "s53 = input_ids.size(1) = attention_mask.size(1), in 2..64" check $model --form dynamic
expect 2 "contradicts" run $model --form dynamic --dim batch=7 --dim batch=8
expect 2 "--dim batch=7, but the inputs have 2 there" \
  run $model --form dynamic --dim batch=7 --inputs $model/inputs.safetensors
# Outputs of another size are not passed over.
expect 1 "the file has float32[2, 12, 99]" \
  run $model --form dynamic --dim batch=3 --expect $model/outputs.safetensors
expect 0 "cpu: " trace $model --form dynamic
exit $failed
