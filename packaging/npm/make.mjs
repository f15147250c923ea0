// Makes the npm packages of a release from its archives: node make.mjs VERSION DIST OUT
// DIST has ctx_VERSION_OS_ARCH.tar.gz or .zip; OUT gets a directory for each package, for `npm publish`.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const [version, dist, out] = process.argv.slice(2);
if (!out) {
  console.error("usage: node make.mjs VERSION DIST OUT");
  process.exit(2);
}
const here = import.meta.dirname;
const main = JSON.parse(readFileSync(path.join(here, "ctx/package.json"), "utf8"));
const write = (dir, doc) => writeFileSync(path.join(dir, "package.json"), JSON.stringify(doc, null, 2) + "\n");

for (const name of Object.keys(main.optionalDependencies)) {
  const [os, cpu] = name.split("ctx-")[1].split("-");
  const file = `ctx_${version}_${os === "win32" ? "windows" : os}_${cpu === "x64" ? "amd64" : cpu}.${os === "win32" ? "zip" : "tar.gz"}`;
  if (!readdirSync(dist).includes(file)) {
    console.error(`no ${file}: ${name} is left out`);
    delete main.optionalDependencies[name];
    continue;
  }
  const work = mkdtempSync(path.join(tmpdir(), "ctx-npm-"));
  const archive = path.resolve(dist, file);
  if (os === "win32") execFileSync("unzip", ["-q", archive, "-d", work]);
  else execFileSync("tar", ["-xzf", archive, "-C", work]);
  const dir = path.join(out, name.split("/")[1]);
  mkdirSync(path.join(dir, "bin"), { recursive: true });
  for (const program of readdirSync(work).filter((f) => /^ctx(-[a-z0-9-]+)?(\.exe)?$/.test(f))) {
    cpSync(path.join(work, program), path.join(dir, "bin", program));
    chmodSync(path.join(dir, "bin", program), 0o755);
  }
  write(dir, { name, version, description: `${main.description} (${os}, ${cpu})`, license: main.license, repository: main.repository,
    os: [os], cpu: [cpu], files: ["bin"] });
  main.optionalDependencies[name] = version;
  rmSync(work, { recursive: true });
}
const dir = path.join(out, "ctx");
cpSync(path.join(here, "ctx"), dir, { recursive: true });
write(dir, { ...main, version });
