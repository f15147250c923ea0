# Installs a release of ctx into %LOCALAPPDATA%\Programs\ctx, and checks its checksum.
#   .\install.ps1                    the newest release
#   .\install.ps1 -Version v1.2.3    that one
#   .\install.ps1 -Name gctx         under another name, beside another program called ctx
param(
  [string]$Version = 'latest',
  [string]$Name = 'ctx',
  [string]$To = (Join-Path $env:LOCALAPPDATA 'Programs\ctx')
)
$ErrorActionPreference = 'Stop'
$releases = 'https://github.com/gemini-ctx/ctx/releases'
$from = if ($Version -eq 'latest') { "$releases/latest/download" } else { "$releases/download/$Version" }
$arch = if ([Runtime.InteropServices.RuntimeInformation]::OSArchitecture -eq 'Arm64') { 'arm64' } else { 'amd64' }

$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $work | Out-Null
try {
  $sums = Join-Path $work 'checksums.txt'
  Invoke-WebRequest -UseBasicParsing -Uri "$from/checksums.txt" -OutFile $sums
  $line = Get-Content $sums | Where-Object { $_ -match "  (ctx_.*_windows_$arch\.zip)$" } | Select-Object -First 1
  if (-not $line) { throw "the release has no archive for windows/$arch" }
  $want, $file = $line -split '\s+', 2
  $zip = Join-Path $work $file
  Invoke-WebRequest -UseBasicParsing -Uri "$from/$file" -OutFile $zip
  if ((Get-FileHash -Algorithm SHA256 $zip).Hash -ne $want) { throw "the checksum of $file is not the one that the release says" }
  Expand-Archive -Path $zip -DestinationPath (Join-Path $work 'files')
  New-Item -ItemType Directory -Force -Path $To | Out-Null
  Get-ChildItem (Join-Path $work 'files') -Filter '*.exe' -Recurse | ForEach-Object {
    $as = if ($_.Name -eq 'ctx.exe') { "$Name.exe" } else { $_.Name }
    Copy-Item -Force $_.FullName (Join-Path $To $as)
  }
  & (Join-Path $To "$Name.exe") version
  if (($env:Path -split ';') -notcontains $To) { "add $To to Path" }
} finally {
  Remove-Item -Recurse -Force $work
}
