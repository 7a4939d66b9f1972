#!/bin/bash
# The README's first C++ block is examples/quickstart.cc, and the block behind it is what that program
# prints. Line numbers of kernels may differ: they move with every edit.
set -euo pipefail
readme=$1 source=$2 program=$3

# The first block of README.md that is fenced as $1 at or behind line $2.
block() {
  awk -v fence="\`\`\`$1" -v from="$2" '
    NR >= from && $0 == fence { inside = 1; next }
    inside && $0 == "```" { exit }
    inside { print }' "$readme"
}
without_lines() { sed -E 's/(\.cc):[0-9]+ */\1:N /; s/ +$//'; }

diff "$source" <(block cpp 1) || {
  echo "README.md does not show $source as it is" >&2
  exit 1
}
code=$(grep -n '^```cpp$' "$readme" | head -1 | cut -d: -f1)
diff <("$program" | without_lines) <(block text "$code" | without_lines) || {
  echo "README.md does not show what $program prints" >&2
  exit 1
}
