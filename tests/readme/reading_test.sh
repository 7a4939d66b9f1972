#!/bin/bash
# docs/reading.md names each file of its packages once, and keeps the limits of its chapters and of
# their sum.
#
#   reading_test.sh PAGE FILE...            FILE...: what must be in it
#   tests/readme/reading_test.sh --write    in a checkout: writes the counts of lines anew
set -euo pipefail
readonly CHAPTER_LIMIT=1500 LIMIT=10500

# "chapter path" for each file of the page $1; `a.{h,cc}` is two.
files_of() {
  awk '
    /^## [0-9]+\. / { chapter = $2 + 0 }
    chapter {
      rest = $0
      while (match(rest, /`[a-z0-9_\/]+\.(h|cc|\{h,cc\})`/)) {
        path = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        if (sub(/\.\{h,cc\}$/, "", path)) print chapter, path ".h\n" chapter, path ".cc"
        else print chapter, path
      }
    }' "$1"
}

# "chapter lines" for each chapter of the page $1, then "all lines". Run where the paths begin.
counts_of() {
  files_of "$1" | while read -r chapter path; do echo "$chapter $(wc -l < "$path")"; done |
    awk '{ lines[$1] += $2; sum += $2; if ($1 > last) last = $1 }
         END { for (i = 1; i <= last; ++i) print i, lines[i] + 0; print "all", sum + 0 }'
}

# The same, as the page $1 states it.
stated_in() {
  sed -nE -e 's/^## ([0-9]+)\. .* \(([0-9,]+) lines\)$/\1 \2/p' \
    -e 's/^In all: ([0-9,]+) lines\.$/all \1/p' "$1" | tr -d , | sort -V
}

with_comma() { sed -E 's/([0-9])([0-9]{3})$/\1,\2/' <<< "$1"; }

if [[ ${1-} == --write ]]; then
  page=docs/reading.md
  while read -r chapter lines; do
    if [[ $chapter == all ]]; then
      sed -i -E "s/^In all: [0-9,]+ lines\.$/In all: $(with_comma "$lines") lines./" "$page"
    else
      sed -i -E "s/^(## $chapter\. .*) \([0-9,]+ lines\)$/\1 ($(with_comma "$lines") lines)/" "$page"
    fi
  done < <(counts_of "$page")
  exit
fi

page=$1
shift
failed=0
fail() {
  echo "$page: $*" >&2
  failed=1
}

named=$(files_of "$page" | cut -d' ' -f2 | sort)
for path in $(uniq -d <<< "$named"); do fail "names $path twice"; done
for path in $(comm -23 <(uniq <<< "$named") <(printf '%s\n' "$@" | sort)); do
  fail "names $path, which is not in the packages of the book"
done
for path in $(comm -13 <(uniq <<< "$named") <(printf '%s\n' "$@" | sort)); do
  fail "does not name $path; say in which chapter it is read"
done
((failed == 0)) || exit 1

counts=$(counts_of "$page")
while read -r chapter lines; do
  if [[ $chapter == all ]]; then
    ((lines <= LIMIT)) || fail "the book has $lines lines; at most $LIMIT"
  else
    ((lines <= CHAPTER_LIMIT)) || fail "chapter $chapter has $lines lines; at most $CHAPTER_LIMIT"
  fi
done <<< "$counts"
diff <(stated_in "$page") <(sort -V <<< "$counts") ||
  fail "states other counts (<) than the files have (>): run tests/readme/reading_test.sh --write"
exit "$failed"
