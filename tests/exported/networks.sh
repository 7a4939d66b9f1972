#!/bin/bash
# Runs exported networks in every form that they have, on every device, and counts.
#
#   ./bazelw run -c opt //tests/exported:networks -- FOLDER... [--device D] [--quiet]
#
# A folder is one network (NAME/NAME.pt2, ...) or holds several. The last line is
# "N passed, N failed, N refused": a form that fails for want of an operator is refused, and its
# first lines say of which.
set -uo pipefail

sb=$PWD/$1
shift
cd "${BUILD_WORKING_DIRECTORY:-.}" || exit 2
device=all
quiet=
folders=()
while (($#)); do
  case $1 in
    --device) device=$2; shift ;;
    --quiet) quiet=1 ;;
    *) folders+=("$1") ;;
  esac
  shift
done
((${#folders[@]})) || { echo "usage: networks FOLDER... [--device D] [--quiet]" >&2; exit 2; }

passed=0 failed=0 refused=0
run_form() { # folder form
  local out status
  out=$(BUILD_WORKING_DIRECTORY='' "$sb" run "$1" --form "$2" --device "$device" 2>&1)
  status=$?
  if ((status == 0)); then
    passed=$((passed + 1))
    [[ $quiet ]] || echo "ok       $(basename "$1") $2"
  elif [[ $out == *"is not all here"* || $out == *"NotImplementedError"* ]]; then
    refused=$((refused + 1))
    echo "REFUSED  $(basename "$1") $2"
    grep -m3 -E '^  [a-z-]* ?[a-z]* |not supported' <<<"$out" | cut -c1-240 | sed 's/^/         /'
  else
    failed=$((failed + 1))
    echo "FAILED   $(basename "$1") $2"
    grep -m4 -E '^[a-z:0-9]*: |^sb: ' <<<"$out" | cut -c1-330 | sed 's/^/         /'
  fi
}

for folder in "${folders[@]}"; do
  for network in "$folder" "$folder"/*/; do
    network=${network%/}
    name=$(basename "$network")
    for form in core training dynamic dynamic.training joint; do
      suffix=.$form.pt2
      [[ $form == core ]] && suffix=.pt2
      [[ -e $network/$name$suffix ]] && run_form "$network" "$form"
    done
  done
done
echo "$passed passed, $failed failed, $refused refused"
((failed == 0))
