#!/bin/sh
# Installs a wheel in a fresh Debian and runs the examples of examples/python there, without a compiler and then with gcc:
# scripts/check_wheel.sh SUITE WHEEL. SUITE is bookworm or trixie, WHEEL one for its Python: 3.11, or 3.12 and later.
# Needs root and debootstrap. The system is made anew each time, in a folder that is removed afterwards.
set -eu
cd "$(dirname "$0")/.."
suite=${1:?usage: check_wheel.sh SUITE WHEEL}
wheel=${2:?usage: check_wheel.sh SUITE WHEEL}
root=$(mktemp -d)
chmod 755 "$root"

finish() {
  for folder in proc dev; do mountpoint -q "$root/$folder" && umount "$root/$folder" || true; done
  # What is still mounted there would be removed with it.
  if grep -q " $root/" /proc/mounts; then echo "check_wheel: $root is left, as folders are mounted in it"; else rm -rf --one-file-system "$root"; fi
}
trap finish EXIT
debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv "$suite" "$root" > "$root.log" 2>&1 ||
  { cat "$root.log"; exit 1; }
rm -f "$root.log"
for folder in proc dev; do mount --bind "/$folder" "$root/$folder"; done
for file in resolv.conf pip.conf; do [ ! -e "/etc/$file" ] || cp -L "/etc/$file" "$root/etc/"; done
cp -r examples/python "$root/opt/examples"
cp "$wheel" "$root/opt/"

# What names an index or a proxy is the host's.
inside() {
  # shellcheck disable=SC2046  # one word for each variable
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 MPLBACKEND=Agg \
    $(env | grep -i -E '^(https?_proxy|no_proxy|pip_(index_url|extra_index_url|trusted_host|cert|default_timeout))=' || true) "$@"
}
for bundle in ${PIP_CERT:-} ${SSL_CERT_FILE:-} /etc/ssl/certs/ca-certificates.crt; do
  if [ -e "$bundle" ]; then mkdir -p "$root$(dirname "$bundle")"; cp -L "$bundle" "$root$bundle"; fi
done
inside sh -ec 'python3 -m venv /opt/venv
  /opt/venv/bin/pip install -q --disable-pip-version-check /opt/*.whl numpy matplotlib "dask[array]" distributed'

examples() {
  inside sh -c 'cd /opt/examples; failed=0
    for program in *.py; do
      if /opt/venv/bin/python "$program" > /tmp/output 2>&1; then echo "$1: $program"; else
        echo "$1: $program failed"; cat /tmp/output; failed=1; fi
      grep -a "^tarry: warning" /tmp/output | head -n 3
    done; exit "$failed"' sh "$1"
}
inside sh -c '! command -v cc gcc clang' || { echo "check_wheel: $suite has a compiler already"; exit 1; }
examples "$suite without a compiler"
inside sh -ec 'apt-get update -q; DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends gcc libc6-dev' > /dev/null
examples "$suite with gcc"
