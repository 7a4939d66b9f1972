#!/bin/bash
# Runs the program of a dispatch_order_test with wrong expectations: it must fail, and say why.
# Usage: wrong_order_test.sh PROGRAM
set -u
program=$1
failures=0

# check STATUS TEXT FLAG...: the program ends with that status, and its output has the text.
check() {
  local want_status=$1 want_text=$2 output status
  shift 2
  output=$("$program" "$@")
  status=$?
  if [[ $status -ne $want_status || $output != *"$want_text"* ]]; then
    echo "FAILED: $*"
    echo "  expected status $want_status and: $want_text"
    echo "  got status $status and:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

add=(--op=aten::add.Tensor "--tensor=*=cpu")

check 0 "took the expected order" "${add[@]}" --expect=CPU
# Another key, another place, another rule, a kernel too many, one too few.
check 1 "step 1: expected 'Meta', got 'CPU ops/arithmetic/arithmetic.cc:" "${add[@]}" --expect=Meta
check 1 "step 1: expected 'CPU copy.cc', got" "${add[@]}" "--expect=CPU copy.cc"
check 1 "from fallback', got" "${add[@]}" "--expect=CPU from fallback"
check 1 "step 2: expected 'CPU', got the end of the call" "${add[@]}" --expect=CPU --expect=CPU
check 1 "step 1: expected 'AutocastCPU falls through', got 'AutocastCPU excluded'" "${add[@]}" \
  "--expect=AutocastCPU falls through" --expect=CPU
check 1 "expected 'CPU fails', got 'CPU ops/arithmetic/arithmetic.cc:" "${add[@]}" "--expect=CPU fails"
# The explanation of the call is there.
check 1 "Why it went there:
aten::add.Tensor" "${add[@]}" --expect=Meta
check 1 "AutogradCPU" "${add[@]}" --expect=Meta
# A call that throws says what.
check 1 "it threw: " "${add[@]}" --shape=other=3x5 --expect=CPU
# What cannot be called is neither.
check 2 "aten::no_such_operator: no operator of that name" --op=aten::no_such_operator --expect=CPU
check 2 "names an argument 'beta'" "${add[@]}" --arg=beta=1 --expect=CPU
check 2 "got 'Cpu'" "${add[@]}" --expect=Cpu
check 2 "--expect is missing" "${add[@]}"

exit $((failures > 0))
