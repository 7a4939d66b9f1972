#!/bin/bash
# MPI's ranks in a network of two machines: two network namespaces with a cable (veth) between them, and nothing
# else. Collectives cross it and give the bits that threads give; where the cable is cut, ranks get an error.
#   network.sh FOLDER    where ranks_program and libsb_openmpi.so are
set -uo pipefail

folder=$(cd "$1" && pwd)
program=$folder/ranks_program
export SB_MPI_LIBRARY=$folder/libsb_openmpi.so
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

skip() {
  echo "network: skipped, $*"
  exit 0
}
((EUID == 0)) || skip "network namespaces need root"
command -v ip >/dev/null || skip "iproute2 is not installed"

one=sb$$one other=sb$$other
work=$(mktemp -d)
cleanup() {
  local processes
  for name in "$one" "$other"; do
    processes=$(ip netns pids "$name" 2>/dev/null) || continue
    # shellcheck disable=SC2086
    [[ -z $processes ]] || kill -9 $processes 2>/dev/null
    ip netns del "$name"
  done
  rm -rf "$work"
}
trap cleanup EXIT
{ ip netns add "$one" && ip netns add "$other"; } 2>/dev/null || skip "there can be no network namespaces here"
ip link add cable netns "$one" type veth peer name cable netns "$other" 2>/dev/null ||
  skip "there can be no veth here"
ip -n "$one" addr add 10.213.77.1/24 dev cable
ip -n "$other" addr add 10.213.77.2/24 dev cable
for name in "$one" "$other"; do
  ip -n "$name" link set lo up
  ip -n "$name" link set cable up
done

# What mpirun takes for ssh: it starts a command on another machine, whose name is the first word that is no flag.
cat >"$work/launch" <<EOF
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
shift
exec ip netns exec $other unshare -u bash -c "hostname $other; \$*"
EOF
chmod +x "$work/launch"
# Output that would have to cross a cut cable goes to a file for each rank.
cat >"$work/rank" <<EOF
#!/bin/bash
exec "$program" "\$@" >"$work/\$OMPI_COMM_WORLD_RANK.out" 2>"$work/\$OMPI_COMM_WORLD_RANK.err"
EOF
chmod +x "$work/rank"
run() { # run SECONDS WHAT: rank 0 here, rank 1 there
  rm -f "$work"/*.out "$work"/*.err
  # shellcheck disable=SC2016
  timeout -k 5 "$1" ip netns exec "$one" unshare -u bash -c 'hostname "$0"; exec "$@"' "$one" \
    mpirun.openmpi --mca plm_rsh_agent "$work/launch" --host 10.213.77.1,10.213.77.2 -n 2 -x SB_MPI_LIBRARY \
    --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include cable --mca oob_tcp_if_include cable \
    "$work/rank" "$2"
}
crossed() { ip netns exec "$one" cat /proc/net/dev | awk '/cable/ { print $10 }'; }

failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
  tail -n 5 "$work"/*.err "$work/log"
}

before=$(crossed)
run 60 collectives >"$work/log" 2>&1 || fail "collectives: an error"
bytes=$(($(crossed) - before))
[[ $(cat "$work/0.out") == $("$program" collectives --threads 2) ]] || fail "collectives: other bits than threads"
# An all_reduce of 400,003 floats alone sends half of them, and its half of the sum.
((bytes > 1600000)) || fail "collectives: only $bytes bytes crossed the cable"
echo "network: $bytes bytes crossed the cable, and the bits are those of threads"

# The cable is cut while the ranks meet again and again.
says() { grep -qs "rank $1: call .*all_reduce.*: waited 3 s for rank $((1 - $1))" "$work/$1.err"; }
run 60 meet >"$work/log" 2>&1 &
for _ in {1..200}; do
  grep -qs meeting "$work/0.out" && grep -qs meeting "$work/1.out" && break
  sleep 0.1
done
sleep 1
ip -n "$one" link set cable down
begin=$SECONDS
for _ in {1..200}; do
  says 0 && says 1 && break
  sleep 0.1
done
for rank in 0 1; do says "$rank" || fail "a cut cable: rank $rank says nothing of it"; done
((failures)) || echo "network: the cable was cut, and both ranks said so within $((SECONDS - begin + 1)) s"
((failures == 0))
