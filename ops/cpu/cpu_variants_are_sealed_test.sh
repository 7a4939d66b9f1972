#!/bin/bash
# The objects that hold CPU kernels for higher capabilities (cpu_kernel.h), given as arguments, show
# nothing to the linker but their kernels, which are read-only data, and run nothing at start-up: an
# instruction that the machine lacks could get out by either. Sanitizers have start-up code of their
# own in every object.
set -eu
failed=0
[ $# -gt 0 ] || { echo "no objects given"; exit 1; }
for object in "$@"; do
  variant=${object%.o}
  variant=${variant##*_}
  kernels=0
  while read -r _ type name; do
    case "$type$name" in
      [RDV]*_"${variant}"E | [RDV]*_"${variant}") kernels=$((kernels + 1)) ;;
      *) echo "$object: shows $type $name"; failed=1 ;;
    esac
  done < <(nm --defined-only --extern-only "$object")
  [ "$kernels" -gt 0 ] || { echo "$object: has no kernels"; failed=1; }
  if ! nm "$object" | grep -qE '__(asan|tsan|msan|ubsan|sanitizer)_'; then
    if readelf --sections --wide "$object" | grep -E '\.(init|fini|preinit)_array|\.ctors|\.dtors'; then
      echo "$object: has start-up code"
      failed=1
    fi
  fi
done
exit $failed
