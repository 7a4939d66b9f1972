#!/bin/sh
# pack.sh MANIFEST SHARED TARBALL: packs the files of MANIFEST's lines, "path-inside file", under the
# tarball's name, with libswitchboard.so as a link to SHARED. The same files give the same bytes.
set -eu

manifest=$1 shared=$2 tarball=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$(basename "$tarball" .tar.gz)

while read -r path file; do
  mkdir -p "$work/$name/$(dirname "$path")"
  cp -L "$file" "$work/$name/$path"
done <"$manifest"
ln -s "$shared" "$work/$name/lib/libswitchboard.so"
find "$work/$name" -type d -exec chmod 755 {} +
find "$work/$name" -type f -exec chmod 644 {} +

tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work" -c "$name" |
  gzip -n >"$tarball"
