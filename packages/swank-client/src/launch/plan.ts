import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { NIL, print, quote, read, type Sexp, symbol } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { check, type OptionsOf } from "../base/options.js";
import { evaluate } from "../evaluation/evaluate.js";
import { fileStamp, keyOf } from "../files/kept.js";
import { attempted, defaultCacheFolder, prepareCache } from "../files/own.js";
import { attachImage } from "../handshake/handshake.js";
import { LISP_FOLDER } from "../runtime/bundled.js";
import { callIfLoadedForm, openingCall } from "../runtime/loader.js";
import { formOf } from "../runtime/runner.js";
import { allModules, readLisp, runtimeModule } from "../runtime/runtime.js";
import { knownLisp, type LispInstallation } from "./lisp.js";
import { findSwank } from "./swank.js";

/** Path of a Lisp file of this package. */
export function lispFile(name: string): string {
  return fileURLToPath(new URL(`${name}.lisp`, LISP_FOLDER));
}

/** Text of a form that calls a function of the launcher's Lisp code, `PACKAGE:NAME`. Lists among the arguments are data. */
export function callForm(name: string, ...args: readonly Sexp[]): string {
  return print([symbol(`swank-client/${name}`), ...args.map((arg) => (Array.isArray(arg) ? quote(arg) : arg))]);
}

/** Text of a form that loads a file, whatever characters its name has. */
export function loadFileForm(path: string): string {
  return print([symbol("cl:load"), [symbol("sb-ext:parse-native-namestring"), path]]);
}

/** Text of a form that reads and evaluates other forms in order, under SBCL's default settings, which a core may have changed. */
export function underDefaultSettings(forms: readonly string[]): string {
  const settings = print(read(readLisp("port/default-settings")));
  return `(cl:funcall ${settings} (cl:lambda () (cl:dolist (form '${print(forms)}) (cl:eval (cl:read-from-string form)))))`;
}

/** The launcher's Lisp files that are loaded before Swank, and those loaded after it. */
const BEFORE_SWANK = ["port/any-names", "port/any-loader", "port/sbcl-internals", "port/sbcl-system", "launch/process"];

const AFTER_SWANK = [
  "port/sbcl-calls",
  "port/any-swank",
  "port/sbcl-swank",
  "launch/package",
  "launch/image",
  "launch/share",
];

/** The forms that load Swank, compiled into `faslFolder` or not compiled, and then the launcher's Lisp code. */
export function loadSwankForms(swankFolder: string, faslFolder: string | undefined): readonly string[] {
  return [
    ...BEFORE_SWANK.map(lispFile).map(loadFileForm),
    callForm("process:die-with-parent"),
    callForm("process:close-inherited"),
    callForm("process:load-swank", swankFolder, faslFolder ?? NIL),
    ...AFTER_SWANK.map(lispFile).map(loadFileForm),
  ];
}

/** The Lisp files in a core, besides Swank. */
const LAUNCH_FILES: readonly string[] = [...BEFORE_SWANK, ...AFTER_SWANK, "launch/core", "port/default-settings"].map(
  lispFile,
);

/** Change this when cores are built in a different way that the rest of the key does not include. */
const FORMAT = 1;

/** Lisp texts to load after Swank. */
interface CoreRuntime {
  /** Identifies them. */
  readonly id: string | readonly string[];
  /** Read only to build a core. */
  readonly sources: readonly string[];
}

/** What Swank is loaded from. */
interface SwankIngredients {
  readonly lisp: LispInstallation;
  readonly swankFolder: string;
}

/** The ingredients of a core. */
export interface CoreIngredients extends SwankIngredients {
  readonly runtime: CoreRuntime;
  readonly warmUp: readonly string[];
}

/** The key of a core. Another SBCL, another Swank or another version of this package gives another key. */
function coreKey({ runtime, warmUp, ...swank }: CoreIngredients): string {
  return keyOf([...swankIngredients(swank), runtime.id, warmUp]);
}

/** The key of a compiled Swank, which has all that its files depend on: the Lisp, its core, Swank's sources, and our code that loads them. */
export function swankKey(ingredients: SwankIngredients): string {
  return keyOf(swankIngredients(ingredients));
}

function swankIngredients({ lisp, swankFolder }: SwankIngredients): readonly unknown[] {
  const stamps = [lisp.runtime, lisp.core ?? lisp.runtime, ...swankFiles(swankFolder)].map(fileStamp);
  const texts = LAUNCH_FILES.map((file) => readFileSync(file, "utf8"));
  return [FORMAT, lisp.version, lisp.home, stamps, texts];
}

function swankFiles(folder: string): readonly string[] {
  const folders = [folder, join(folder, "swank"), join(folder, "contrib")];
  // Old versions of Swank read their number from slime.el, newer ones from slime-version.
  return [...folders.flatMap(lispFilesIn), join(folder, "slime-version"), join(folder, "slime.el")];
}

function lispFilesIn(folder: string): readonly string[] {
  const names = attempted(() => readdirSync(folder)) ?? [];
  return names
    .filter((name) => name.endsWith(".lisp"))
    .sort()
    .map((name) => join(folder, name));
}

/** Every module of the runtime, so that a launched image contains all of them. */
function ownRuntime(): CoreRuntime {
  return {
    id: runtimeModule("evaluate").version,
    get sources() {
      return allModules().map(({ texts }) => texts.join("\n"));
    },
  };
}

/** A client's first requests, as sent. They make the first evaluation in a new image as fast as later ones. */
function firstRequests(): readonly string[] {
  const { packageName } = runtimeModule("evaluate");
  const call = {
    code: "(list (+ 1 2))",
    id: 1,
    package: undefined,
    stdin: undefined,
    check: false,
    unwind: false,
    debug: true,
    limit: 1000,
    tail: 0,
  };
  const opening = callIfLoadedForm(runtimeModule("connection"), openingCall(attachImage, "auto"));
  return [opening, formOf(evaluate, [call], packageName)].map(print);
}

/** The data of a launch, collected before anything is started. */
export interface LaunchPlan {
  readonly options: LaunchImageOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ingredients: CoreIngredients;
  /** Identifies the ingredients of the image. */
  readonly key: string;
  /** The greeting that the image must send first. */
  readonly greeting: string;
  /** `undefined` if no folder can be used. */
  readonly cacheFolder: string | undefined;
  /** Notes for the user. The launch adds to them. */
  readonly notes: string[];
}

/**
 * Finds the Lisp, Swank and the cache folder for a launch.
 *
 * @throws SwankError `LISP_NOT_FOUND`, `SWANK_NOT_FOUND`, `INVALID_ARGUMENT`, `CANCELLED`
 */
export async function planLaunch(options: LaunchImageOptions): Promise<LaunchPlan> {
  await checkLaunch(options);
  const env = options.env ?? process.env;
  const { path: cacheFolder, note } = await prepareCache(resolve(options.cacheDir ?? defaultCacheFolder(env)));
  const [lisp, swankFolder] = await Promise.all([
    knownLisp(cacheFolder, options),
    findSwank({ swank: options.swank, env }),
  ]);
  const ingredients = { lisp, swankFolder, ...runtimeOf(options) };
  const key = coreKey(ingredients);
  const notes = note === undefined ? [] : [note];
  return { options, env, ingredients, key, greeting: `swank-client image ${key}\n`, cacheFolder, notes };
}

/** The default warm-up requests need the default runtime. */
function runtimeOf({ runtimeSources, warmUp }: LaunchImageOptions): Pick<CoreIngredients, "runtime" | "warmUp"> {
  if (runtimeSources === undefined) return { runtime: ownRuntime(), warmUp: warmUp ?? firstRequests() };
  return { runtime: { id: runtimeSources, sources: runtimeSources }, warmUp: warmUp ?? [] };
}

async function checkLaunch(options: LaunchImageOptions): Promise<void> {
  const { cwd, env = process.env, signal } = options;
  if (signal?.aborted) throw new SwankError("CANCELLED", "Launching the image was cancelled.");
  if (cwd !== undefined && !(await stat(cwd).catch(() => undefined))?.isDirectory()) {
    throw new SwankError("INVALID_ARGUMENT", `The image cannot work in ${cwd}: there is no such folder.`);
  }
  // ASDF, which Swank requires, refuses to be loaded then.
  const home = env["HOME"];
  if (home && !isAbsolute(home)) {
    throw new SwankError(
      "LAUNCH_FAILED",
      `The environment variable HOME is ${home}, but Lisp needs an absolute path.`,
      {
        remedy: "Set HOME to the absolute path of the home folder.",
      },
    );
  }
}

export const launchImageOptions = {
  /**
   * The executable of SBCL or ECL, a path or a name on the PATH. Default: the environment variable `SBCL`, or `sbcl`. In ECL, Swank is loaded each time,
   * which takes half a second.
   */
  lisp: check.text,
  /** Folder of `swank-loader.lisp`. Default: the environment variable `SWANK`, or the result of `findSwank`. */
  swank: check.text,
  /** The folder for SBCL's cores. Default: `swank-toolkit` in the user's cache folder. */
  cacheDir: check.text,
  /** `false`: load Swank each time instead of starting from a core that contains it. Default: true in SBCL. ECL has no cores. */
  useCore: check.flag,
  /** The image's working folder. Default: this process's. */
  cwd: check.text,
  /** The image's whole environment. Default: this process's. */
  env: check.any<Readonly<Record<string, string | undefined>>>(),
  /** The largest size of the heap of an SBCL, in megabytes. Default: SBCL's. */
  dynamicSpaceSize: check.number("a number of megabytes", (size) => Number.isSafeInteger(size) && size > 0),
  /** Lisp texts to load into the core after Swank. They are not loaded into an image without a core. Default: this package's runtime. */
  runtimeSources: check.any<readonly string[]>(),
  /**
   * Forms, as sent to Swank, to evaluate once while the core is built, so that slow first calls are done. The build fails if one of them
   * does not return. Default: a client's first requests, if the runtime is the default one.
   */
  warmUp: check.any<readonly string[]>(),
  /** Gives up when aborted. Has no effect after the image has started. */
  signal: check.signal,
  /** Milliseconds that the image may take to start. Building a core does not count. Default: 60000. */
  startTimeout: check.milliseconds,
  /** Called with each line that the image prints on its stdout and stderr, without the newline. */
  onLog: check.function<(line: string) => void>(),
  /**
   * `true`: the first launch with this SBCL and Swank loads Swank at once, and the core for later launches is built while the image runs, see
   * `LaunchedImage.coreBuild`. If that image ends too early, the next launch builds the core. Default: false, the first launch builds the
   * core. Without effect in ECL.
   */
  buildInBackground: check.flag,
  /**
   * Called when the launch finds no core: before it builds one, or waits for another process that builds it, which takes some seconds; or,
   * with `true`, before it loads Swank and then builds the core in the background.
   */
  onBuild: check.function<(isBackground: boolean) => void>(),
};

/** Options for launching an image. */
export interface LaunchImageOptions extends OptionsOf<typeof launchImageOptions> {}

export const DEFAULT_START_TIMEOUT = 60_000;

/** SBCL arguments for every Lisp that we start: an exhausted heap ends the process instead of waiting in a low-level debugger. */
const RUNTIME_ARGS: readonly string[] = ["--noinform", "--disable-ldb", "--no-merge-core-pages"];

/** Arguments that start SBCL from its own core. */
export function coreArgs(lisp: LispInstallation, dynamicSpaceSize?: number): readonly string[] {
  return [...(lisp.core === undefined ? [] : ["--core", lisp.core]), ...runtimeArgs(dynamicSpaceSize)];
}

/** Arguments for the sbcl program, except the core. */
export function runtimeArgs(dynamicSpaceSize: number | undefined): readonly string[] {
  const heap = dynamicSpaceSize === undefined ? [] : ["--dynamic-space-size", `${dynamicSpaceSize}MB`];
  return [...RUNTIME_ARGS, ...heap];
}

/** The environment in which the sbcl program finds its modules, even if a script normally sets `SBCL_HOME`. */
export function lispEnvironment(
  lisp: LispInstallation,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return lisp.home === undefined ? env : { SBCL_HOME: lisp.home, ...env };
}
