#!/bin/bash
# Each check of .ci that looks at files lets a small house pass, and names the file that breaks it.
set -euo pipefail

export HOME=$TEST_TMPDIR XDG_CACHE_HOME=$TEST_TMPDIR/cache
house=$TEST_TMPDIR/house
mkdir -p "$house/core"
cp -rL .ci .clang-format "$house/"
cd "$house"
git init -q

# passes CHECK [FILE]: without a word of complaint.
passes() {
  local said
  said=$(".ci/$1" "${@:2}" 2>&1) || { printf 'FAILED: %s does not pass:\n%s\n' "$1" "$said"; exit 1; }
}

# refuses CHECK TEXT: the check fails, and says the text.
refuses() {
  local said
  if said=$(".ci/$1" 2>&1); then
    printf 'FAILED: %s passes, expected "%s"\n' "$1" "$2"
    exit 1
  fi
  [[ $said == *"$2"* ]] || { printf 'FAILED: %s: expected "%s", got:\n%s\n' "$1" "$2" "$said"; exit 1; }
}

installed() {
  command -v "$1" >/dev/null || { echo "skipped: there is no $1" && false; }
}

cat >core/good.h <<'END'
#include <string>

namespace sb {
std::string good();
}
END
cat >core/good.cc <<'END'
#include "switchboard/core/good.h"

namespace sb {
std::string good() { return "good"; }
}  // namespace sb
int main() { return static_cast<int>(sb::good().size()); }
END

if installed clang-format; then
  passes format
  echo 'int  spaced ;' >core/spaced.cc
  refuses format core/spaced.cc
  rm core/spaced.cc
fi

if installed shellcheck; then
  # shellcheck disable=SC2016  # the script's own
  printf '%s\n' '#!/bin/sh' 'echo "$1"' >good_script
  passes shell
  # shellcheck disable=SC2016  # the script's own
  printf '%s\n' '#!/bin/bash' 'rm $1' >bad_script
  refuses shell bad_script
  rm bad_script
fi

# Prose is broken at 120 columns; what cannot be broken is not.
wide=$(printf 'word %.0s' {1..30})
cat >README.md <<END
Short, with [a link]($(printf 'a%.0s' {1..150})).

| $wide |

    command $wide

\`\`\`text
$wide
\`\`\`
END
passes markdown
printf '%s\n' '- An item:' '' "    $wide" >item.md
refuses markdown item.md:3:
echo "$wide" >item.md
refuses markdown item.md:1:
rm item.md

# What a page names exists: from the root, from its folder, or by its name alone.
mkdir core/derivatives
touch core/derivatives/page.md
# shellcheck disable=SC2016  # the pages' own
echo '`core/good.h`, `switchboard/core/good.{h,cc}`, `good.h`, `derivatives/`, [page](core/derivatives/page.md)' >names.md
passes paths names.md
# shellcheck disable=SC2016  # the pages' own
for name in '`core/gone.h`' '`core/good.{h,js}`' '`gone.h`' '`gone/`' '[page](gone.md)'; do
  echo "$name" >wrong.md
  refuses paths wrong.md:1:
done
rm wrong.md names.md core/derivatives/page.md

# A header includes what it needs, and one that changes is compiled again.
passes headers
printf '%s\n' '#include <vector>' 'inline std::vector<int> numbers() { return {}; }' >core/alone.h
passes headers
echo 'inline std::string text() { return {}; }' >>core/alone.h
refuses headers core/alone.h
# So is one of which another has changed.
echo '#include "switchboard/core/below.h"' >core/alone.h
echo '#include <cstddef>' >core/below.h
passes headers
echo 'inline std::vector<int> below();' >core/below.h
refuses headers core/below.h
rm core/alone.h core/below.h

# A name of a header is named elsewhere, or stands in the list.
: >.ci/unused_allowed.txt
passes unused
for declaration in 'int lonely(const int& x);' 'inline int lonely() { return 1; }' '#define lonely() 1' \
  'class lonely { lonely(); };' 'enum class lonely { kA };' 'using lonely = int;' 'inline constexpr int lonely = 1;'; do
  echo "$declaration" >core/lonely.h
  refuses unused 'core/lonely.h:1: nothing names lonely'
done
echo 'lonely  programs call it' >.ci/unused_allowed.txt
passes unused
echo 'lonely' >.ci/unused_allowed.txt
refuses unused 'lonely has no reason'
echo 'lonely  programs call it' >.ci/unused_allowed.txt
rm core/lonely.h
refuses unused 'lists lonely'
# A definition is no use, nor is a comment; a call is.
: >.ci/unused_allowed.txt
echo 'int lonely(int x);' >core/lonely.h
printf '%s\n' '#include "switchboard/core/lonely.h"' 'int lonely(int x) { return x; }  // lonely()' >core/lonely.cc
refuses unused 'nothing names lonely'
echo 'int used() { return lonely(1); }' >>core/lonely.cc
passes unused
