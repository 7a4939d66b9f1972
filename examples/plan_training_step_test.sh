#!/bin/bash
# A step on 10,000 ranks is planned in at most ten seconds of a processor, and all ranks are in a line of it.
set -euo pipefail

expect() {
  grep -qE -- "$1" <<<"$out" || { printf '%s\nexpected: %s\n' "$out" "$1" >&2; exit 1; }
}

TIMEFORMAT='%U %S'
{ time examples/plan_training_step >"$TEST_TMPDIR/out"; } 2>"$TEST_TMPDIR/time"
out=$(<"$TEST_TMPDIR/out")
expect "parameters on each of 10,000 ranks, data=1250,tensor=8"
expect "^0\.\.\. "
expect "^collectives over tensor: "
ranks=$(awk '/^[0-9]+\.\.\./ { gsub(",", "", $2); sum += $2 } END { print sum }' <<<"$out")
if ((ranks != 10000)); then
  echo "the lines are of $ranks ranks" >&2
  exit 1
fi
read -r user system <"$TEST_TMPDIR/time"
awk -v user="$user" -v kernel="$system" 'BEGIN { exit user + kernel > 10 }' || {
  echo "it took $user s and $system s of the system" >&2
  exit 1
}
