import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import type { Starter } from "../base/version.js";
import { readBuildInfo } from "./build-info.js";
import { CodeCache, codeFolder } from "./code-cache.js";
import { optimizeSooner } from "./optimize-sooner.js";

/** How long after the first call the code is kept, in milliseconds: by then the program has its most used functions. */
const KEEP_DELAY = 1000;

/** The bundle: a function like those that Node makes of CommonJS modules. */
type Bundle = (
  exports: object,
  require: NodeJS.Require,
  module: { readonly exports: { main?(starter: Starter): void } },
  filename: string,
  dirname: string,
) => void;

const folder = fileURLToPath(new URL(".", import.meta.url));

const build = readBuildInfo(folder);

start(join(folder, `server-${build.id}.cjs`));

/** Runs the bundle, with the code that an earlier process compiled. */
function start(file: string): void {
  // Code from the cache would not be counted in a measurement of coverage.
  const isMeasured = process.env["NODE_V8_COVERAGE"] !== undefined;
  const cache = isMeasured ? undefined : new CodeCache(codeFolder(process.argv.slice(2), process.env), build.id);
  const cachedData = cache?.read();
  // The bundle is ASCII, which is read faster as Latin-1.
  const source = readFileSync(file, "latin1");
  const script = new Script(source, { filename: file, ...(cachedData === undefined ? {} : { cachedData }) });
  const isKept = cachedData !== undefined && script.cachedDataRejected !== true;
  const bundle: Bundle = script.runInThisContext();
  const module: Parameters<Bundle>[2] = { exports: {} };
  bundle(module.exports, createRequire(file), module, file, folder);
  const first = cache === undefined || isKept ? () => void optimizeSooner() : () => keepSoon(script, cache);
  let hasEnded = false;
  const callEnded = () => {
    if (hasEnded) return;
    hasEnded = true;
    first();
  };
  module.exports.main?.({ callEnded });
}

/**
 * Keeps the code in a moment, or at the exit if that comes first. V8's settings change only after that, because V8 does not read code that was
 * kept with other settings.
 */
function keepSoon(script: Script, cache: CodeCache): void {
  let isKept = false;
  const keep = () => {
    if (isKept) return;
    isKept = true;
    cache.write(script.createCachedData());
    void optimizeSooner();
  };
  setTimeout(keep, KEEP_DELAY).unref();
  process.once("exit", keep);
}
