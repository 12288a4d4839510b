import { createHash } from "node:crypto";
import type { ModuleName } from "./descriptor.js";
import { type LispSystem, readLisp, readSystems } from "./lisp-systems.js";

/** A Lisp system, ready to be loaded into an image. */
export interface RuntimeModule {
  /** Name of the package whose external symbols the client calls. */
  readonly packageName: string;
  /** The name of the keyword whose property `:ready` is true in an image that has loaded the module. */
  readonly marker: string;
  /** The text to load. */
  readonly source: string;
}

/** Modules whose functions are in a package of another name. */
const PACKAGES: Partial<Record<ModuleName, string>> = { "foreign-errors": "connection" };

const NAMES: readonly ModuleName[] = [
  "connection",
  "foreign-errors",
  "evaluate",
  "debugger",
  "definitions",
  "describe",
];

/** Matches a name of one of this library's packages in Lisp code. */
const PACKAGE_NAME = /#:swank-client\/([a-z][a-z-]*)/g;

/** The text of each system, and the version, a hash of all texts. */
interface SourceTexts {
  readonly version: string;
  readonly texts: ReadonlyMap<ModuleName, string>;
}

let known: SourceTexts | undefined;

/** A module. The files of this package are read once. */
export function runtimeModule(name: ModuleName): RuntimeModule {
  known ??= readTexts();
  const { version, texts } = known;
  const marker = versioned(name, version);
  return {
    packageName: versioned(PACKAGES[name] ?? name, version),
    marker,
    // Only the first client of an image needs the text.
    get source() {
      // Each version has its own packages, so that it redefines neither another version nor a system loaded by hand.
      const text = (texts.get(name) ?? "").replaceAll(PACKAGE_NAME, `#:swank-client/$1/${version}`);
      return `${text}\n(setf (get :${marker} :ready) t)\n`;
    },
  };
}

/** All modules, in loading order. */
export function allModules(): readonly RuntimeModule[] {
  return NAMES.map(runtimeModule);
}

function readTexts(): SourceTexts {
  const systems = readSystems();
  const texts = NAMES.map((name) => [name, textOf(name, systems)] as const);
  const hash = createHash("sha256");
  for (const [, text] of texts) hash.update(text);
  return { version: hash.digest("hex").slice(0, 12).toUpperCase(), texts: new Map(texts) };
}

function textOf(name: ModuleName, systems: readonly LispSystem[]): string {
  const files = systems.find((system) => system.name === name)?.files ?? [];
  return files.map(readLisp).join("\n");
}

function versioned(name: string, version: string): string {
  return `SWANK-CLIENT/${name.toUpperCase()}/${version}`;
}
