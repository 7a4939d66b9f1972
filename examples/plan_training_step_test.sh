#!/bin/bash
# A step on 10,000 ranks is planned within ten seconds of two cores, and all ranks are in a line of it.
set -euo pipefail

begin=$(date +%s%N)
out=$(examples/plan_training_step)
milliseconds=$((($(date +%s%N) - begin) / 1000000))
echo "$out"
expect() {
  grep -qE -- "$1" <<<"$out" || { echo "expected: $1" >&2; exit 1; }
}
expect "parameters on each of 10,000 ranks"
expect "^0\.\.\. "
ranks=$(awk '/^[0-9]+\.\.\./ { gsub(",", "", $2); sum += $2 } END { print sum }' <<<"$out")
if ((ranks != 10000)); then
  echo "the lines are of $ranks ranks" >&2
  exit 1
fi
expect "collectives over tensor: "
if ((milliseconds > 10000)); then
  echo "it took $milliseconds ms" >&2
  exit 1
fi
