#!/bin/sh
# Installs the Debian packages that building and testing need; asks the network only for those that are missing.
set -eu

# Of alternatives (a|b) any will do, and the first is installed.
packages="g++ cmake ninja-build ccache git pkg-config libboost-dev|libboost1.74-dev libxxhash-dev catch2 libfmt-dev
libspdlog-dev libcli11-dev nlohmann-json3-dev libtbb-dev libpng-dev libopenblas0 python3 python3-numpy"

# To compile kernels for ARM and to run them.
if [ "$(uname -m)" = x86_64 ]; then
  packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user|qemu-user-static"
fi

# oneDNN, for products of float32; where a release does not have it, OpenBLAS takes them.
wanted="libdnnl2"

# Those of the arguments that are not there.
missing_of() {
  for package in "$@"; do
    state=$(echo "$package" | tr '|' '\n' | xargs dpkg-query -W -f '${db:Status-Status}\n' 2>/dev/null || true)
    echo "$state" | grep -qx installed || echo "${package%%|*}"
  done
}

# shellcheck disable=SC2086  # words are packages
missing=$(missing_of $packages $wanted)
if [ -z "$missing" ]; then
  echo "dependencies: all present"
  exit 0
fi

# shellcheck disable=SC2086  # words are packages
echo "dependencies: installing" $missing
as_root=""
if [ "$(id -u)" != 0 ]; then
  as_root="sudo"
fi
# shellcheck disable=SC2086  # words are packages
{
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
  missing=$(missing_of $packages)
  for package in $(missing_of $wanted); do
    if apt-cache show "$package" >/dev/null 2>&1; then missing="$missing $package"; fi
  done
  if [ -n "$missing" ]; then $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing; fi
}
