import { createHash } from "node:crypto";
import { BUILT_INDEX, type RuntimeIndex } from "./built-index.js";
import { COMPANIONS, MODULE_NAMES, type ModuleName } from "./descriptor.js";
import { type LispSystem, readLisp, readSystems } from "./lisp-systems.js";

/** A Lisp system, ready to be loaded into an image. */
export interface RuntimeModule {
  readonly name: ModuleName;
  /** A hash of the texts of all modules. */
  readonly version: string;
  /** Name of the package whose external symbols the client calls. */
  readonly packageName: string;
  /** The name of the keyword whose property `:ready` is true in an image that has loaded the module. */
  readonly marker: string;
  /** The modules that must be loaded before it. */
  readonly dependsOn: readonly ModuleName[];
  /** The modules to load right after it, if the client's options give a call to make with them. */
  readonly companions: readonly ModuleName[];
  /** The texts of its files, in the order in which they are loaded. */
  readonly texts: readonly string[];
}

/** Matches a name of one of this library's packages in Lisp code. */
const PACKAGE_NAME = /#:swank-client\/([a-z][a-z-]*)/g;

type Texts = ReadonlyMap<ModuleName, readonly string[]>;

/** Read when they are first needed. */
const known: { index?: RuntimeIndex; texts?: Texts } = {};

/** A module. */
export function runtimeModule(name: ModuleName): RuntimeModule {
  known.index ??= BUILT_INDEX ?? readIndex();
  const { version, dependencies } = known.index;
  const marker = versioned(name, version);
  return {
    name,
    version,
    packageName: marker,
    marker,
    dependsOn: dependencies[name] ?? [],
    companions: COMPANIONS[name] ?? [],
    // Only the first client of an image needs the texts.
    get texts() {
      // Each version has its own packages, so that it redefines neither another version nor a system loaded by hand.
      const own = (knownTexts().get(name) ?? []).map((text) =>
        text.replaceAll(PACKAGE_NAME, `#:swank-client/$1/${version}`),
      );
      return [...own, `(cl:setf (cl:get :${marker} :ready) cl:t)\n`];
    },
  };
}

/** All modules, in loading order. */
export function allModules(): readonly RuntimeModule[] {
  return MODULE_NAMES.map(runtimeModule);
}

/** Reads all files of the modules. */
export function readIndex(): RuntimeIndex {
  const systems = readSystems();
  const hash = createHash("sha256");
  for (const text of [...knownTexts().values()].flat()) hash.update(text);
  return {
    version: hash.digest("hex").slice(0, 12).toUpperCase(),
    dependencies: Object.fromEntries(MODULE_NAMES.map((name) => [name, dependenciesOf(name, systems)] as const)),
  };
}

function knownTexts(): Texts {
  known.texts ??= readTexts();
  return known.texts;
}

function readTexts(): Texts {
  const systems = readSystems();
  return new Map(MODULE_NAMES.map((name) => [name, textsOf(name, systems)] as const));
}

function dependenciesOf(name: ModuleName, systems: readonly LispSystem[]): readonly ModuleName[] {
  const others = systems.find((system) => system.name === name)?.dependsOn ?? [];
  return MODULE_NAMES.filter((other) => others.includes(other));
}

function textsOf(name: ModuleName, systems: readonly LispSystem[]): readonly string[] {
  return (systems.find((system) => system.name === name)?.files ?? []).map(readLisp);
}

function versioned(name: string, version: string): string {
  return `SWANK-CLIENT/${name.toUpperCase()}/${version}`;
}
