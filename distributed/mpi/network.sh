#!/bin/bash
# MPI's ranks in a network of two machines: two network namespaces with a cable (veth) between them, and nothing
# else. Collectives cross it and give the bits that threads give; where the cable is cut, ranks get an error.
#   network.sh FOLDER    where ranks_program and libsb_mpich.so are
set -uo pipefail

folder=$(cd "$1" && pwd)
program=$folder/ranks_program
export SB_MPI_LIBRARY=$folder/libsb_mpich.so

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
ip netns add "$one" 2>/dev/null && ip netns add "$other" || skip "there can be no network namespaces here"
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
exec "$program" "\$@" >"$work/\$PMI_RANK.out" 2>"$work/\$PMI_RANK.err"
EOF
chmod +x "$work/rank"
run() { # run SECONDS WHAT: rank 0 here, rank 1 there
  rm -f "$work"/*.out "$work"/*.err
  timeout "$1" ip netns exec "$one" mpirun.mpich -launcher ssh -launcher-exec "$work/launch" -iface cable \
    -hosts 10.213.77.1,10.213.77.2 -n 2 "$work/rank" "$2"
}
crossed() { ip netns exec "$one" cat /proc/net/dev | awk '/cable/ { print $10 }'; }

failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
  tail -n 5 "$work"/*.err
}

before=$(crossed)
run 60 collectives >/dev/null 2>&1 || fail "collectives: an error"
bytes=$(($(crossed) - before))
[[ $(cat "$work/0.out") == $("$program" collectives --threads 2) ]] || fail "collectives: other bits than threads"
# An all_reduce of 400,003 floats alone sends half of them, and its half of the sum.
((bytes > 1600000)) || fail "collectives: only $bytes bytes crossed the cable"
echo "network: $bytes bytes crossed the cable, and the bits are those of threads"

# The cable is cut while the ranks meet again and again.
begin=$SECONDS
{
  for _ in {1..100}; do
    grep -qs meeting "$work/0.out" && break
    sleep 0.1
  done
  sleep 1
  ip -n "$one" link set cable down
} &
run 40 meet >/dev/null 2>&1 && fail "a cut cable: no error"
wait
for rank in 0 1; do
  grep -q "rank $rank: call .*all_reduce.*: waited 3 s for rank $((1 - rank))" "$work/$rank.err" ||
    fail "a cut cable: rank $rank says nothing of it"
done
((failures)) || echo "network: the cable was cut, and both ranks said so within $((SECONDS - begin)) s"
((failures == 0))
