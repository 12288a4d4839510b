import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Lisp text that is loaded into an image once, into a package of its own. */
export interface RuntimeModule {
  /** Name of its package, which carries a hash of the text: two versions of it never redefine each other. */
  readonly packageName: string;
  /** What to load. */
  readonly source: string;
}

/** In the order in which they must be loaded. */
const EVALUATE_FILES = ["package", "output", "printing", "session", "snapshot", "evaluate", "control"];

let evaluateModule: RuntimeModule | undefined;

/** The module that evaluates code and looks at its stops. */
export function evaluateRuntime(): RuntimeModule {
  evaluateModule ??= readModule(EVALUATE_FILES);
  return evaluateModule;
}

/** Text of a file of this package's `lisp` folder. */
export function readLisp(name: string): string {
  return readFileSync(new URL(`../../lisp/${name}.lisp`, import.meta.url), "utf8");
}

function readModule(files: readonly string[]): RuntimeModule {
  const text = files.map(readLisp).join("\n");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const packageName = `SWANK-CLIENT/${hash.toUpperCase()}`;
  return { packageName, source: text.replaceAll("@runtime@", packageName) };
}
