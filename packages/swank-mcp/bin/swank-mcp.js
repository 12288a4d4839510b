#!/usr/bin/env node
// Committed, because npm links no bin that does not exist yet when it installs: the build comes after. CommonJS, which Node loads faster.
const { existsSync } = require("node:fs");
/** @type {typeof import("node:module") & { enableCompileCache?: (folder: string) => void }} Node 20, whose types these are, has no such cache. */
const { enableCompileCache } = require("node:module");
const { join } = require("node:path");

// By default the signal has Node open its inspector's port, where every user of the machine could run code as this one.
process.on("SIGUSR1", () => undefined);

// By default the cache is in a folder that all users of the machine share.
const { HOME, XDG_CACHE_HOME } = process.env;
const cache = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"));
if (cache) enableCompileCache?.(join(cache, "swank-toolkit/node"));

// The code of these commands and of the page would slow the other starts: a bundle of its own has it, with all else. A word that only looks like one
// does no harm.
const mayNeedAll =
  process.argv.some((word) => /^(?:http|token|setup|doctor|page|--page(?:=.*)?)$/.test(word)) ||
  Boolean(process.env["SWANK_MCP_PAGE"]);
const program = join(__dirname, `../dist/program/swank-mcp${mayNeedAll ? "-http" : ""}.cjs`);

if (existsSync(program)) {
  require(program);
} else {
  process.stderr.write("swank-mcp has not been built: run `npm run build` in the repository, then start it again.\n");
  process.exitCode = 1;
}
