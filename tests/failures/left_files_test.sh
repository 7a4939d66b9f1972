#!/bin/bash
# What a random test leaves of a wrong operator, built as it is, shows what is wrong; and of one that
# crashes it leaves a program, too.
#   left_files_test.sh RANDOM_TEST LEFT_PROGRAM TEXT [FLAGS...]
# TEXT: what LEFT_PROGRAM prints. FLAGS: those with which RANDOM_TEST crashes, in one word.
set -uo pipefail
random_test=$1 left=$2 text=$3
shift 3

fail() {
  echo "left_files_test: $*" >&2
  exit 1
}

printed=$("$left" 2>&1)
grep -qF -- "$text" <<<"$printed" || fail "$left prints no '$text' but: $printed"

for flags; do
  folder=$TEST_TMPDIR/${flags//[^a-z]/_}
  read -ra words <<<"$flags"
  said=$("$random_test" "${words[@]}" --failures="$folder" 2>&1) && fail "$flags: no failure: $said"
  path=$(sed -n 's/^ *left in //p' <<<"$said" | head -n 1)
  [[ $path == "$folder"/* ]] || fail "$flags: nothing is left in $folder: $said"
  grep -q 'fault::crashes' "$path" || fail "$path does not have the operator"
  lines=$(wc -l <"$path")
  ((lines <= 30)) || fail "$path has $lines lines"
done
