#!/usr/bin/env node
// Committed, because npm links no bin that does not exist yet when it installs: the build comes after. CommonJS, which Node loads faster.
const { existsSync } = require("node:fs");
const { join } = require("node:path");

// By default the signal has Node open its inspector's port, where every user of the machine could run code as this one.
process.on("SIGUSR1", () => undefined);

const start = join(__dirname, "../dist/program/start.cjs");

if (existsSync(start)) {
  require(start);
} else {
  process.stderr.write("swank-mcp has not been built: run `npm run build` in the repository, then start it again.\n");
  process.exitCode = 1;
}
