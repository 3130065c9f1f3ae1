#!/bin/sh
# Runs the README's two commands in a fresh Debian: scripts/check_debian.sh SUITE [COMPILER] [ctest arguments].
# SUITE is bookworm or trixie, COMPILER a package such as clang-19 that takes g++'s place. Needs root and debootstrap. The system is
# made once, in ~/.cache/tarry-debian unless TARRY_DEBIAN says where, and takes about 3 GB with what is built in it.
set -eu
cd "$(dirname "$0")/.."
suite=${1:?usage: check_debian.sh SUITE [COMPILER] [ctest arguments]}
compiler=${2:-g++}
shift; [ $# = 0 ] || shift
root=${TARRY_DEBIAN:-$HOME/.cache/tarry-debian}/$suite

if ! [ -e "$root/made" ]; then
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root"
  touch "$root/made"
fi

unmount() {
  for folder in proc sys dev; do mountpoint -q "$root/$folder" && umount "$root/$folder" || true; done
}
trap unmount EXIT
for folder in proc sys dev; do mountpoint -q "$root/$folder" || mount --bind "/$folder" "$root/$folder"; done

# What is committed, as a newcomer would clone it.
source=$root/root/tarry-$compiler
rm -rf "$source"
mkdir -p "$source"
git archive HEAD | tar -x -C "$source"

inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }
if [ "$compiler" != g++ ]; then
  inside sh -c "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $compiler" > "$source.log" 2>&1
  export_compiler="CC=$compiler CXX=$(echo "$compiler" | sed 's/^clang/clang++/')"
else
  export_compiler="CC=gcc CXX=g++"
fi
# shellcheck disable=SC2086  # two assignments
inside $export_compiler sh -c "cd /root/tarry-$compiler && scripts/demo.sh"
# shellcheck disable=SC2086
inside $export_compiler sh -c "cd /root/tarry-$compiler && scripts/test.sh release \"\$@\"" sh "$@"
