import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Decoded, DecodeError, type Decoder, decode, isSymbol, readAll, type Sexp } from "sexp-parser";
import type { RuntimeKind } from "../base/abilities.js";
import { ownCode } from "../wire/sent.js";
import { BUILT_INDEX, LISP_FOLDER, type RuntimeIndex } from "./bundled.js";
import { COMPANIONS, lispFunction, MODULE_NAMES, type ModuleName } from "./function.js";
import { slynkText, slynkVersion } from "./slynk.js";

const { any, integer, list, map, optional, plist, record, string } = decode;

/** A system of `swank-client.asd`. */
interface LispSystem {
  /** The name without its prefix: `evaluate` for `swank-client/evaluate`. */
  readonly name: string;
  /** Names of the systems that must be loaded before it. */
  readonly dependsOn: readonly string[];
  /** Its files, in the order in which they are loaded, without `.lisp`. */
  readonly files: readonly string[];
}

const PREFIX = "swank-client/";

const clauses = plist({ dependsOn: optional(list(any)), components: optional(list(any)) });

/** The systems that clients load, in the order of `swank-client.asd`. Each depends only on earlier ones. */
function readSystems(): readonly LispSystem[] {
  const text = readFileSync(new URL("swank-client.asd", LISP_FOLDER), "utf8");
  return readAll(text).flatMap(systemOf);
}

/** Text of a file of this package's `lisp` folder. */
export function readLisp(name: string): string {
  return readFileSync(new URL(`${name}.lisp`, LISP_FOLDER), "utf8");
}

function systemOf(form: Sexp): readonly LispSystem[] {
  const [, nameForm, ...rest] = list(any)(form);
  const name = string(nameForm ?? form);
  if (!name.startsWith(PREFIX)) return [];
  const { dependsOn = [], components = [] } = clauses(rest);
  const others = dependsOn.flatMap((item) => (typeof item === "string" ? [item] : []));
  return [
    {
      name: name.slice(PREFIX.length),
      dependsOn: others.filter((other) => other.startsWith(PREFIX)).map((other) => other.slice(PREFIX.length)),
      files: components.map(file),
    },
  ];
}

/** `(:file "NAME")` */
const file: Decoder<string> = map(list(any), (items) => {
  const [kind, name] = items;
  if (kind !== undefined && isSymbol(kind) && kind.name === "FILE" && name !== undefined) return string(name);
  throw new DecodeError("(:file NAME)", items);
});

/** A Lisp system, ready to be loaded into an image. */
export interface RuntimeModule {
  readonly name: ModuleName;
  readonly kind: RuntimeKind;
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
const PACKAGE_NAME = /(?<![\w"/-])swank-client\/([a-z][a-z-]*)(?=[:\s)])/g;

/** What a module consists of. */
interface ModuleFiles {
  readonly dependsOn: readonly ModuleName[];
  /** Its files, in loading order, without `.lisp`. */
  readonly files: readonly string[];
}

/** Read when they are first needed. */
const known: {
  index?: RuntimeIndex;
  files?: ReadonlyMap<ModuleName, ModuleFiles>;
  texts?: ReadonlyMap<ModuleName, readonly string[]>;
} = {};

/** A module for an image that gets this kind of runtime. */
export function moduleFor(kind: RuntimeKind, name: ModuleName): RuntimeModule {
  if (kind === "portable") return portableModule(name);
  const module = runtimeModule(name);
  return kind === "sbcl-slynk" ? slynkModule(module) : module;
}

/** The file with what Slynk does not have as Swank has it, in place of that with Swank's names. */
const REPLACED = { swank: "port/any-swank", slynk: "port/slynk-any-swank" } as const;

/** A module of SBCL's runtime, for an image with Slynk. */
function slynkModule(module: RuntimeModule): RuntimeModule {
  const version = slynkVersion(module.version);
  const own = (text: string) => text.replaceAll(module.version, version);
  return {
    ...module,
    kind: "sbcl-slynk",
    version,
    packageName: own(module.packageName),
    marker: own(module.marker),
    get texts() {
      const files = filesOfModule(module.name).map((file) => (file === REPLACED.swank ? REPLACED.slynk : file));
      const texts = files.map((file) => slynkText(withVersion(readLisp(file), version)));
      return [...texts, readyForm(own(module.marker))];
    },
  };
}

function filesOfModule(name: ModuleName): readonly string[] {
  return moduleFiles().get(name)?.files ?? [];
}

/** The portable runtime, which is loaded in one piece whatever module is needed first. */
function portableModule(name: ModuleName): RuntimeModule {
  known.index ??= BUILT_INDEX ?? readIndex();
  const { version } = known.index;
  const marker = versioned("portable", version);
  return {
    name,
    kind: "portable",
    version,
    packageName: marker,
    marker,
    dependsOn: [],
    companions: [],
    get texts() {
      return [...portableTexts().map((text) => withVersion(text, version)), readyForm(marker)];
    },
  };
}

/** Its own system, and the one for every Lisp. */
function portableTexts(): readonly string[] {
  const files = readSystems().flatMap(({ name, files }) => (name === "any" || name === "portable" ? files : []));
  return files.map(readLisp);
}

/** Each version has its own packages, so that it redefines neither another version nor a system loaded by hand. */
function withVersion(text: string, version: string): string {
  return text.replaceAll(PACKAGE_NAME, `swank-client/$1/${version}`);
}

function readyForm(marker: string): string {
  return `(cl:setf (cl:get :${marker} :ready) cl:t)\n`;
}

/** A module of SBCL's runtime. */
export function runtimeModule(name: ModuleName): RuntimeModule {
  known.index ??= BUILT_INDEX ?? readIndex();
  const { version, dependencies } = known.index;
  const marker = versioned(name, version);
  return {
    name,
    kind: "sbcl",
    version,
    packageName: marker,
    marker,
    dependsOn: dependencies[name] ?? [],
    companions: COMPANIONS[name] ?? [],
    // Only the first client of an image needs the texts.
    get texts() {
      const own = (knownTexts().get(name) ?? []).map((text) => withVersion(text, version));
      return [...own, readyForm(marker)];
    },
  };
}

/** All modules, in loading order. */
export function allModules(kind: RuntimeKind = "sbcl"): readonly RuntimeModule[] {
  return MODULE_NAMES.map((name) => moduleFor(kind, name));
}

/** Reads all files of the modules. */
export function readIndex(): RuntimeIndex {
  const hash = createHash("sha256");
  for (const text of [...[...knownTexts().values()].flat(), readLisp(REPLACED.slynk), ...portableTexts()])
    hash.update(text);
  return {
    version: hash.digest("hex").slice(0, 12).toUpperCase(),
    dependencies: Object.fromEntries([...moduleFiles()].map(([name, { dependsOn }]) => [name, dependsOn])),
  };
}

function knownTexts(): ReadonlyMap<ModuleName, readonly string[]> {
  known.texts ??= new Map([...moduleFiles()].map(([name, { files }]) => [name, files.map(readLisp)] as const));
  return known.texts;
}

/** A module has its own system, and those that this needs and no earlier module has. */
function moduleFiles(): ReadonlyMap<ModuleName, ModuleFiles> {
  if (known.files !== undefined) return known.files;
  const systems = readSystems();
  const owners = new Map<string, ModuleName>();
  known.files = new Map(MODULE_NAMES.map((name) => [name, filesOf(name, systems, owners)] as const));
  return known.files;
}

/** @param owners - The modules that have the systems which are known so far. */
function filesOf(name: ModuleName, systems: readonly LispSystem[], owners: Map<string, ModuleName>): ModuleFiles {
  const files: string[] = [];
  const dependsOn = new Set<ModuleName>();
  const visit = (wanted: string) => {
    const owner = owners.get(wanted);
    if (owner === undefined) {
      owners.set(wanted, name);
      const system = systems.find((each) => each.name === wanted);
      for (const needed of system?.dependsOn ?? []) visit(needed);
      files.push(...(system?.files ?? []));
    } else if (owner !== name) dependsOn.add(owner);
  };
  visit(name);
  return { dependsOn: MODULE_NAMES.filter((other) => dependsOn.has(other)), files };
}

function versioned(name: string, version: string): string {
  return `SWANK-CLIENT/${name.toUpperCase()}/${version}`;
}

/** The Unix epoch as a universal time. */
const EPOCH = 2_208_988_800;

const fault = record({
  /** Counts the faults of the image, from 1. */
  number: integer,
  /** Milliseconds since the epoch. */
  time: map(integer, (seconds) => (seconds - EPOCH) * 1000),
  /** The class of the error. */
  type: string,
  /** The error's message; empty if it needs code of the user. */
  text: string,
  /** Functions of the library that ran, innermost first. */
  functions: list(string),
});

/** A failure of this library's own code in the image, which did not break the call around it. Its texts show no objects of the user. */
export interface Fault extends Decoded<typeof fault> {}

/** The latest faults of this version's code in the image, oldest first, at most 100. Loads nothing. */
export const recentFaults = lispFunction({
  name: "cl:and",
  label: () => "listing faults",
  encode: () => [
    ownCode(
      `(cl:let* ((package (cl:find-package "SWANK-CLIENT/SBCL-FAULTS/${runtimeModule("connection").version}"))
                 (function (cl:and package (cl:find-symbol "RECENT-FAULTS" package))))
         (cl:and function (cl:fboundp function) (cl:funcall function)))`,
    ),
  ],
  decode: list<Fault>(fault),
  timeout: 5000,
});
