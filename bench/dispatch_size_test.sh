#!/bin/bash
# A program that links the dispatcher alone has at most so many bytes, stripped.
#   dispatch_size_test.sh PROGRAM [BYTES]    without BYTES nothing is asked
set -euo pipefail

[[ -n ${2-} ]] || { echo "skipped: this build is not optimised"; exit; }
strip -o "$TEST_TMPDIR/stripped" "$1"
bytes=$(stat -c %s "$TEST_TMPDIR/stripped")
echo "the dispatcher alone: $bytes bytes, stripped; at most $2"
((bytes <= $2))
