#!/usr/bin/env node
// Committed, because npm links no bin that does not exist yet when it installs: the build comes after.
import { existsSync } from "node:fs";

const entry = new URL("../dist/bin.js", import.meta.url);

if (existsSync(entry)) {
  await import(entry.href);
} else {
  process.stderr.write("swank-mcp has not been built: run `npm run build` in the repository, then start it again.\n");
  process.exitCode = 1;
}
