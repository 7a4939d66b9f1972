#!/bin/bash
# On 1 to 4 processes: the bits that threads give; on 4, errors on all ranks instead of a hang; what was planned;
# and exported programs with parts of the batch or of the weights.
#   mpi_test.sh mpich|openmpi
set -uo pipefail

mpi=$1
program=distributed/mpi/ranks_program
export SB_MPI_LIBRARY=$PWD/distributed/mpi/libsb_$mpi.so
# Open MPI wants to be told that there may be more ranks than cores, and a root.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none HYDRA_LAUNCHER=fork HOME=${HOME:-/tmp}

failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

for n in 1 2 3 4; do
  threads=$("$program" collectives --threads "$n")
  processes=$(timeout 60 "mpirun.$mpi" -n "$n" "$program" collectives)
  if [[ -z $threads || $processes != "$threads" ]]; then
    fail "$n ranks: threads and processes differ"
    diff <(echo "$threads") <(echo "$processes")
  fi
done

# errors WHAT RANKS TEXT: within ten seconds each of the ranks writes a line with the text.
errors() {
  local output begin=$SECONDS
  output=$(timeout 30 "mpirun.$mpi" -n 4 "$program" "$1" 2>&1) && fail "$1: ended without an error"
  ((SECONDS - begin <= 10)) || fail "$1: took $((SECONDS - begin)) s"
  for rank in $2; do
    grep -q "rank $rank: .*$3" <<<"$output" || fail "$1: no error '$3' on rank $rank"
  done
  ((failures == 0)) || echo "$output"
}
errors diverge "0 1 2 3" "the ranks of group '0' part: ranks 0, 2, 3: call 2 .*all_reduce.*rank 1: call 2 .*broadcast"
errors throw "0 2 3" "rank 1 failed: nothing there"
errors end "0 2 3" "waits for rank 1, which has ended"
errors part "0 1 2 3" "the ranks part at call 3 of each: ranks 0, 1: .*all_reduce(float32\[10\].*ranks 2, 3: .*ranks_program.cc:"
errors circle "0 1" "no rank can go on: rank 0 waits in call 1 of group 'ranks 0,1'.*rank 1 waits in call 1 of group '0'"
errors late "0" "waited 2 s for rank"
# mpirun ends the others: there is no error to be written any more, and no hang either.
errors die "" ""

# The plan's bytes are those that each rank sends, and of two collectives the one that is planned to take much
# longer does.
for n in 2 4; do
  output=$(timeout 120 "mpirun.$mpi" -n "$n" distributed/mpi/plan_program 2>&1) ||
    fail "$n ranks: not as planned: $output"
done

# Exported programs that know no ranks. Parts of a batch give the bits of one rank where the rows of all matrix
# products come in fours; parts of the weights give the bits that threads give.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
model="run examples/tiny_bert --form dynamic"
sized="$model --dim batch=16 --dim seq=8 --random-weights 1"
# shellcheck disable=SC2086
tools/sb $sized --save-inputs "$folder/in.safetensors" --save-outputs "$folder/one.safetensors" >/dev/null
split="$model --inputs $folder/in.safetensors --expect $folder/one.safetensors"
for n in 1 2 4; do
  # shellcheck disable=SC2086
  output=$(timeout 60 "mpirun.$mpi" -n "$n" tools/sb --mpi $split --parallel data --rtol 0 --atol 0 2>&1) ||
    fail "$n ranks with parts of the batch: $output"
  # shellcheck disable=SC2086
  output=$(timeout 60 "mpirun.$mpi" -n "$n" tools/sb --mpi $split --parallel tensor \
    --save-outputs "$folder/processes.safetensors" 2>&1) || fail "$n ranks with parts of weights: $output"
  # shellcheck disable=SC2086
  tools/sb --ranks "$n" $split --parallel tensor --save-outputs "$folder/threads.safetensors" >/dev/null
  cmp "$folder/processes.safetensors" "$folder/threads.safetensors" ||
    fail "$n ranks with parts of weights: threads and processes differ"
done

((failures == 0)) && echo ok
