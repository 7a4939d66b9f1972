#!/bin/bash
# .ci/run and .ci/manual, with a Bazel and checks that only say how they were called.
set -euo pipefail

house=$TEST_TMPDIR/house
mkdir -p "$house/real"
cp -rL .ci "$house/"
cd "$house"

expect() { # expect WHAT WANTED GOT
  [[ $2 == "$3" ]] || { printf 'FAILED: %s\nwanted: %s\ngot: %s\n' "$1" "$2" "$3"; exit 1; }
}
script() { # script NAME: an executable NAME of the lines of stdin
  { echo '#!/bin/bash' && cat; } >"$1"
  chmod +x "$1"
}

# Targets that need something are left out and counted.
script bazelw <<'END'
case "$*" in
  *needs-libtorch*) echo //bench:torch ;;
  *needs-fuzzer*) echo //tests:fuzzer ;;
  *needs-mpi*) echo //tests:ranks_test ;;
  *needs-browser*) echo //tests/page:page_test ;;
  *refused*) echo //tests:refused ;;
  query*) printf '%s\n' //bench:torch //tests:fuzzer //tests:ranks_test //tests:refused //tests:slow_test //tests/page:page_test ;;
  *) echo "bazel $*" ;;
esac
END
expect "manual" "manual: skipped, there is no libtorch in $PWD: //bench:torch
manual: skipped, they are .ci/mpi's: //tests:ranks_test
manual: skipped, they are .ci/page's: //tests/page:page_test
bazel build //tests:slow_test
manual: skipped, only with --thorough: //tests:fuzzer
manual: 1 built, 4 skipped, 1 that Bazel refuses" "$(LIBTORCH=$PWD .ci/manual)"
mkdir -p include/ATen
touch include/ATen/ATen.h
expect "manual with libtorch" "bazel build //bench:torch //tests:slow_test" "$(LIBTORCH=$PWD .ci/manual | grep ^bazel)"

# The last line counts tests, and checks that failed.
names=(packages format markdown paths shell unused headers layering mpi manual page embed clang networks sanitizers)
for name in "${names[@]}"; do echo "echo ran $name \$*" | script ".ci/$name"; done
script bazelw <<'END'
echo '//core:a_test      (cached) PASSED in 0.2s'
echo '//core:b_test               PASSED in 0.1s'
END
got=$(.ci/run)
expect "last line" "2 passed, 0 failed" "$(tail -n 1 <<<"$got")"
expect "checks" "packages format markdown paths shell unused headers layering mpi manual page" \
  "$(sed -n 's/^ran \([a-z]*\)$/\1/p' <<<"$got" | xargs)"
expect "thorough checks" "${names[*]}" "$(.ci/run --thorough | sed -n 's/^ran \([a-z]*\).*/\1/p' | xargs)"

echo 'echo "shell: mend it"; exit 1' | script .ci/shell
echo 'echo "manual: skipped, for want of it: //a:b"' | script .ci/manual
echo 'echo "//core:a_test FAILED in 0.2s"; echo "//core:b_test PASSED in 0.1s"; exit 3' | script bazelw
got=$(.ci/run) && { echo "FAILED: expected a status of failure"; exit 1; }
expect "summary" "manual: skipped, for want of it: //a:b
failed: .ci/shell ./bazelw test //...
1 passed, 2 failed" "$(tail -n 3 <<<"$got")"

# A build that breaks before any test counts.
echo 'exit 1' | script bazelw
got=$(.ci/run) && { echo "FAILED: expected a status of failure"; exit 1; }
expect "broken build" "0 passed, 2 failed" "$(tail -n 1 <<<"$got")"
