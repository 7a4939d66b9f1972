#!/bin/bash
# bench/build_cost on a house of two revisions, whose Bazel and g++ only say how they were called.
set -euo pipefail

export HOME=$TEST_TMPDIR TMPDIR=$TEST_TMPDIR/tmp
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
house=$TEST_TMPDIR/house
mkdir -p "$house/bench" "$house/examples" "$house/ops" "$TMPDIR" "$TEST_TMPDIR/bin"
cp -L bench/build_cost "$house/bench/"
cd "$house"

fail() { printf 'FAILED: %s\n' "$@"; exit 1; }
script() { # script NAME: an executable NAME of the lines of stdin
  { echo '#!/bin/bash' && cat; } >"$1"
  chmod +x "$1"
}

# The library of the second revision is longer.
script bazelw <<END
echo "\$(cat revision) \${*:2}" >>"$TEST_TMPDIR/bazel.log"
[[ \$1 == --output_user_root=* ]] || exit 1
if [[ \$* == *//:sdk ]]; then
  mkdir -p switchboard-sdk/lib/pkgconfig bazel-bin
  echo "int x[\$(cat revision)00000] = {1};" | gcc -xc -shared -o switchboard-sdk/lib/libswitchboard.so -
  printf '%s\n' 'Name: s' 'Description: s' 'Version: 1' 'Cflags: -DFROM_SDK' >switchboard-sdk/lib/pkgconfig/switchboard.pc
  tar -czf bazel-bin/switchboard-sdk.tar.gz switchboard-sdk
fi
END
printf '%s\n' '#ifndef FROM_SDK' '#error' '#endif' 'int main() {}' >examples/quickstart.cc
touch ops/op.cc
echo 1 >revision
git init -q
git add .
git commit -qm first
echo 2 >revision # here, and not committed

table=$(bench/build_cost HEAD --touch ops/op.cc --test //ops:op_test)
echo "$table"
for label in 'first command, s' 'second command, s' 'quickstart.cc, s' 'quickstart.cc, MiB' \
  'touched file and its test, s' 'libswitchboard.so, MiB'; do
  grep -qF "| $label |" <<<"$table" || fail "no row: $label"
done
grep -qF '| libswitchboard.so, MiB | 0.4 | 0.8 | 1.9' <<<"$table" || fail "the library's row"
first='run --disk_cache= //tools:sb -- run examples/digits_mlp --device all'
[[ $(head -n 2 "$TEST_TMPDIR/bazel.log") == "1 $first
2 $first" ]] || fail "they take turns, from the first command:" "$(cat "$TEST_TMPDIR/bazel.log")"
[[ -z $(ls "$TMPDIR") ]] || fail "it leaves $(ls "$TMPDIR")"

# Only what is asked for is built.
: >"$TEST_TMPDIR/bazel.log"
bench/build_cost HEAD --only quickstart >/dev/null
grep -q //tools:sb "$TEST_TMPDIR/bazel.log" && fail "--only quickstart ran README's first command"
bench/build_cost HEAD --only touched --touch ops/gone.cc >/dev/null 2>&1 && fail "--touch takes what is not there"
exit 0
