#!/bin/sh
# Installs a release of ctx into ~/.local, or into $PREFIX, and checks its checksum. Nothing else is changed:
#   sh install.sh            the newest release
#   sh install.sh v1.2.3     that one
#   CTX_NAME=gctx sh install.sh   under another name, beside another program called ctx
#   CTX_FROM=file:///dir     from a directory of files instead of the releases
set -eu
prefix=${PREFIX:-$HOME/.local}
name=${CTX_NAME:-ctx}
version=${1:-latest}
releases=https://github.com/gemini-ctx/ctx/releases

fail() { echo "install: $1" >&2; exit 1; }
get() { # URL FILE
  if command -v curl >/dev/null; then curl -fsSL --proto '=https,file' -o "$2" "$1"
  elif command -v wget >/dev/null; then wget -q -O "$2" "$1"
  else fail "there is neither curl nor wget"; fi || fail "cannot fetch $1"
}

case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "no release for $(uname -s): see README.md" ;; esac
case $(uname -m) in x86_64 | amd64) arch=amd64 ;; arm64 | aarch64) arch=arm64 ;; *) fail "no release for $(uname -m): see README.md" ;; esac

if [ "$version" = latest ]; then from=$releases/latest/download; else from=$releases/download/$version; fi
from=${CTX_FROM:-$from}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get "$from/checksums.txt" "$work/checksums.txt"
file=$(awk '{ print $2 }' "$work/checksums.txt" | grep "^ctx_.*_${os}_${arch}\.tar\.gz$" | head -n 1)
[ -n "$file" ] || fail "the release has no archive for $os/$arch"
get "$from/$file" "$work/$file"
(cd "$work" && grep " $file\$" checksums.txt >want &&
  if command -v sha256sum >/dev/null; then sha256sum -c want; else shasum -a 256 -c want; fi >/dev/null) ||
  fail "the checksum of $file is not the one that the release says"
tar -xzf "$work/$file" -C "$work"

mkdir -p "$prefix/bin" "$prefix/share/man/man1"
for program in "$work"/ctx "$work"/ctx-*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  to=$prefix/bin/$(basename "$program")
  [ "$(basename "$program")" != ctx ] || to=$prefix/bin/$name
  if [ -e "$to" ] && [ "$to" = "$prefix/bin/ctx" ] && ! "$to" version --json 2>/dev/null | grep -q '"format":'; then
    fail "$to is another program: CTX_NAME=gctx installs this one beside it"
  fi
  cp "$program" "$to.new" && mv "$to.new" "$to"
done
cp "$work"/share/man/man1/* "$prefix/share/man/man1/"
"$prefix/bin/$name" version
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "add $prefix/bin to PATH" ;; esac
