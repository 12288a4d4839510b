#!/usr/bin/env node
// Committed, because npm links no bin that does not exist yet when it installs: the build comes after. CommonJS, which Node loads faster.
const { existsSync } = require("node:fs");
const nodeModule = require("node:module");
const { join } = require("node:path");

// By default the signal has Node open its inspector's port, where every user of the machine could run code as this one.
process.on("SIGUSR1", () => undefined);

// Node 20 has no such cache. By default it is in a folder that all users of the machine share.
const { HOME = "", XDG_CACHE_HOME = "" } = process.env;
const cache = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"));
if (cache !== "" && "enableCompileCache" in nodeModule && typeof nodeModule.enableCompileCache === "function")
  nodeModule.enableCompileCache(join(cache, "swank-toolkit/node"));

const program = join(__dirname, "../dist/program/swank-mcp.cjs");

if (existsSync(program)) {
  require(program);
} else {
  process.stderr.write("swank-mcp has not been built: run `npm run build` in the repository, then start it again.\n");
  process.exitCode = 1;
}
