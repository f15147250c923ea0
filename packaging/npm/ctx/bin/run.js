// Runs a program that the package for this platform has. Nothing is downloaded, and nothing runs when npm installs.
"use strict";
const { spawnSync } = require("node:child_process");
const path = require("node:path");

module.exports = (name) => {
  const wanted = `@gemini-ctx/ctx-${process.platform}-${process.arch}`;
  let dir;
  try {
    dir = path.dirname(require.resolve(`${wanted}/package.json`));
  } catch {
    console.error(`${name}: there is no package ${wanted}: npm left it out, or there is none for this platform`);
    process.exit(1);
  }
  const program = path.join(dir, "bin", process.platform === "win32" ? `${name}.exe` : name);
  const done = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
  if (done.error) {
    console.error(`${name}: ${done.error.message}`);
    process.exit(1);
  }
  if (done.signal) process.kill(process.pid, done.signal);
  process.exit(done.status);
};
