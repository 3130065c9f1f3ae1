#!/bin/sh
# Installs the Debian packages that a purpose needs: scripts/install_dependencies.sh [demo|test|ci]. Asks the network only for those
# that are missing. Without root or sudo it prints the command that an administrator has to run.
set -eu
purpose=${1:-test}

# Of alternatives (a|b) any will do, and the first is installed.
packages="g++ cmake ninja-build pkg-config libboost-dev|libboost1.74-dev libxxhash-dev libfmt-dev libspdlog-dev libcli11-dev
nlohmann-json3-dev libtbb-dev libpng-dev python3 python3-numpy"
# Products by a library: oneDNN's package has another name in each release, and not every release has it.
wanted=""
case $purpose in
  demo) ;;
  test | ci)
    packages="$packages catch2 ccache git libopenblas0 python3-venv python3-dev"
    wanted="libdnnl3.6|libdnnl3|libdnnl2"
    # The second compiler that has to be content.
    [ "$purpose" = test ] || packages="$packages clang-16|clang-19 clang-tidy-16|clang-tidy-19"
    # To compile kernels for ARM and to run them.
    if [ "$(uname -m)" = x86_64 ]; then
      packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user|qemu-user-static"
    fi
    ;;
  *) echo "usage: install_dependencies.sh [demo|test|ci]" >&2; exit 2 ;;
esac

# Those of the arguments that are not there: of alternatives all, if none of them is.
missing_of() {
  for package in "$@"; do
    state=$(echo "$package" | tr '|' '\n' | xargs dpkg-query -W -f '${db:Status-Status}\n' 2>/dev/null || true)
    echo "$state" | grep -qx installed || echo "$package"
  done
}

# Of each argument the first alternative that this release has.
offered_of() {
  for package in "$@"; do
    for name in $(echo "$package" | tr '|' ' '); do
      if apt-cache show "$name" > /dev/null 2>&1; then echo "$name"; break; fi
    done
  done
}

if ! command -v dpkg-query > /dev/null; then
  echo "dependencies: not a Debian system; needed are" $packages >&2
  exit 0
fi

# shellcheck disable=SC2086  # words are packages
missing=$(missing_of $packages)
# shellcheck disable=SC2086
missing_wanted=$(missing_of $wanted)
if [ -z "$missing$missing_wanted" ]; then
  echo "dependencies: all present"
  exit 0
fi

as_root=""
if [ "$(id -u)" != 0 ]; then
  as_root="sudo"
  # A password can be asked for at a terminal alone.
  if ! command -v sudo > /dev/null || { ! [ -t 0 ] && ! sudo -n true 2> /dev/null; }; then
    [ -n "$missing" ] || exit 0
    # shellcheck disable=SC2086
    echo "dependencies: packages are missing, and installing them takes root. Run as an administrator:" >&2
    # shellcheck disable=SC2086
    echo "  apt-get install" $(for package in $missing; do echo "${package%%|*}"; done) >&2
    exit 1
  fi
fi

# shellcheck disable=SC2086
echo "dependencies: installing" $(for package in $missing $missing_wanted; do echo "${package%%|*}"; done)
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
# shellcheck disable=SC2046,SC2086
chosen="$(for package in $missing; do name=$(offered_of "$package"); echo "${name:-${package%%|*}}"; done) $(offered_of $missing_wanted)"
if [ -n "$(echo $chosen)" ]; then
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $chosen
fi
