#!/bin/sh
# Makes the files of a release that are no programs: manual pages and completions, in packaging/out.
# With SOURCE_DATE_EPOCH set, the same commit gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
out=packaging/out
rm -rf "$out"
mkdir -p "$out/man" "$out/completions"
program=$out/ctx-for-pages
CGO_ENABLED=0 GOOS= GOARCH= go build -trimpath -o "$program" ./cmd/ctx
"$program" help --man "$out/man"
gzip -9 -n "$out"/man/*.1
"$program" completion bash >"$out/completions/ctx.bash"
"$program" completion zsh >"$out/completions/_ctx"
"$program" completion fish >"$out/completions/ctx.fish"
"$program" completion powershell >"$out/completions/ctx.ps1"
rm "$program"
