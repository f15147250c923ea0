#!/bin/sh
# Tries a Debian package in a clean Debian, in a directory that is removed at the end. Needs root and debootstrap:
#   packaging/try-deb.sh dist/ctx_VERSION_linux_amd64.deb [SUITE [MIRROR]]
set -eu
deb=$1 suite=${2:-bookworm} mirror=${3:-http://deb.debian.org/debian}
root=$(mktemp -d) && chmod 755 "$root"
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=man-db,bash-completion,ca-certificates "$suite" "$root" "$mirror" >/dev/null
mount -t proc proc "$root/proc"
cp "$deb" "$root/tmp/ctx.deb"
# Minimal images of Debian leave manual pages out; here they are what is tried.
rm -f "$root"/etc/dpkg/dpkg.cfg.d/*
in_root() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
listing() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./var -o -path ./tmp -o -path ./root \) -prune -o -print | LC_ALL=C sort); }

listing >"$root/tmp/before"
in_root apt-get install -y --no-install-recommends /tmp/ctx.deb >/dev/null
in_root ctx version
in_root gctx version >/dev/null
in_root man ctx-compact | grep -q 'Summarize clusters'
in_root bash -c '. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/ctx; complete -p ctx' >/dev/null
in_root ctx demo | tail -n 3
in_root apt-get purge -y ctx-memory >/dev/null
listing >"$root/tmp/after"
if ! diff "$root/tmp/before" "$root/tmp/after"; then
  echo 'removed, but not without a trace' >&2
  exit 1
fi
echo 'installed, tried, and removed without a trace'
