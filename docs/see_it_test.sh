#!/bin/bash
# Runs the commands of see-it.md, in their order, on recordings of the model that it names.
set -euo pipefail

page=$PWD/$1
sb=$PWD/$2
root=$PWD
fail() { echo "FAIL: $*" >&2; exit 1; }

cd "$TEST_TMPDIR"
ln -sfn "$root/examples" examples
export BUILD_WORKING_DIRECTORY=
# What the page takes for granted.
"$sb" record examples/digits_mlp -o other.sbr
for recording in run before after; do cp other.sbr "$recording.sbr"; done
# What record_graph.py made in PyTorch.
cp "$root/tools/pytorch/data/digits_mlp.sbr" torch.sbr

commands=0
while read -r line; do
  case $line in
    "./bazelw run //tools:sb -- "*) arguments=${line#*-- } ;;
    "sb "*) arguments=${line#sb } ;;
    *) continue ;;
  esac
  commands=$((commands + 1))
  # shellcheck disable=SC2086  # words, as on a command line
  "$sb" $arguments >log 2>&1 || { cat log >&2; fail "'$line' ended with status $?"; }
done < <(grep '^    ' "$page")
((commands >= 7)) || fail "expected at least 7 commands in $1, got $commands"
for made in run.sbr page.html repro.cc repro.py; do
  [[ -s $made ]] || fail "expected the commands to make $made"
done
echo "ok: $commands commands"
