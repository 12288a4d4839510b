import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Lisp text that is loaded into an image once, into a package of its own. */
export interface RuntimeModule {
  /** Name of its package, which carries a hash of the text: two versions of it never redefine each other. */
  readonly packageName: string;
  /** What to load; the last form marks the module as ready, on the property list of the keyword named like the package. */
  readonly source: string;
}

/** Names of the modules: each is loaded when it is first needed. */
export type ModuleName = "evaluate" | "debugger" | "definitions" | "describe";

/** The files of each module in the order in which they must be loaded; all modules but the first stand on it. */
const FILES: Readonly<Record<ModuleName, readonly string[]>> = {
  evaluate: [
    "package",
    "output",
    "printing",
    "locks",
    "session",
    "emacs-sources",
    "form-source",
    "definition-kinds",
    "ledger",
    "stack",
    "stepper",
    "snapshot",
    "frame-variables",
    "warnings",
    "name-texts",
    "own-threads",
    "evaluate",
    "control",
    "redirection",
    "attempt",
  ],
  debugger: [
    "debugger-package",
    "objects",
    "frames",
    "stepping",
    "breakpoint-names",
    "breakpoints",
    "owners",
    "foreign-stops",
  ],
  definitions: ["definitions-package", "definitions", "reset"],
  describe: ["describe-package", "describe-values", "symbol-names", "definition-sources", "describe"],
};

const modules = new Map<ModuleName, RuntimeModule>();

/** A module, read from this package's files once. */
export function runtimeModule(name: ModuleName): RuntimeModule {
  const known = modules.get(name);
  if (known !== undefined) return known;
  const module = readModule(name, name === "evaluate" ? undefined : runtimeModule("evaluate"));
  modules.set(name, module);
  return module;
}

/** All modules, in an order in which they can be loaded. */
export function allModules(): readonly RuntimeModule[] {
  const evaluate = runtimeModule("evaluate");
  return [evaluate, runtimeModule("debugger"), runtimeModule("definitions"), runtimeModule("describe")];
}

/** Text of a file of this package's `lisp` folder. */
export function readLisp(name: string): string {
  return readFileSync(new URL(`../../lisp/${name}.lisp`, import.meta.url), "utf8");
}

/** In the files `@module@` stands for the module's package, `@runtime@` for the package of `evaluate`. */
function readModule(name: ModuleName, base: RuntimeModule | undefined): RuntimeModule {
  const text = FILES[name].map(readLisp).join("\n");
  const hash = createHash("sha256")
    .update(text)
    .update(base?.packageName ?? "")
    .digest("hex")
    .slice(0, 12);
  const packageName = `SWANK-CLIENT/${name.toUpperCase()}/${hash.toUpperCase()}`;
  const source = text.replaceAll("@module@", packageName).replaceAll("@runtime@", base?.packageName ?? packageName);
  return { packageName, source: `${source}\n(setf (get :${packageName} :ready) t)\n` };
}
