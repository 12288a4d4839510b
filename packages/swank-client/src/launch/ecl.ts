import { fileURLToPath } from "node:url";
import { print } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { LISP_FOLDER } from "../runtime/bundled.js";
import type { LispInstallation } from "./lisp.js";
import { callForm, DEFAULT_START_TIMEOUT, type LaunchImageOptions, type LaunchPlan, lispFile } from "./plan.js";
import { type StartedImage, startImage } from "./process.js";

/** The Lisp files of an ECL that we launch, besides Swank: those that are loaded before it, and those after it. */
const BEFORE_SWANK = ["port/any-names", "port/any-lisp", "port/any-loader", "port/ecl-system", "ecl/process"];

const AFTER_SWANK = ["port/any-swank", "ecl/package", "ecl/image", "ecl/share"];

/** Options for what only SBCL has, with what of their values asks for it. */
const ONLY_SBCL: readonly (readonly [keyof LaunchImageOptions, (value: unknown) => boolean])[] = [
  ["useCore", (value) => value === true],
  ["dynamicSpaceSize", (value) => value !== undefined],
  ["runtimeSources", (value) => value !== undefined],
  ["warmUp", (value) => value !== undefined],
];

/** @throws SwankError `INVALID_ARGUMENT` if options ask for what only SBCL has. */
function checkOptionsForEcl(options: LaunchImageOptions, { executable }: LispInstallation): void {
  const refused = ONLY_SBCL.flatMap(([name, asks]) => (asks(options[name]) ? [name] : []));
  if (refused.length === 0) return;
  const names = refused.join(", ");
  throw new SwankError("INVALID_ARGUMENT", `Only SBCL can be launched with ${names}, and ${executable} is ECL.`, {
    remedy: `Leave out ${names}, or name the executable of SBCL.`,
    details: { implementation: "ECL" },
  });
}

/** Characters that ECL takes for wild ones, or changes, in the name of a folder; it knows no way to write them otherwise. */
const UNREADABLE = /[*?\\]/;

/** @throws SwankError `LAUNCH_FAILED` if ECL could not open files in the folder, of which it would say that they do not exist. */
function checkFolderForEcl(folder: string, what: string): void {
  const [character] = UNREADABLE.exec(folder) ?? [];
  if (character === undefined) return;
  throw new SwankError(
    "LAUNCH_FAILED",
    `ECL cannot load files from a folder with ${character} in its name: ${folder}`,
    {
      remedy: `Move ${what} to a folder without *, ? and \\ in its name.`,
      details: { implementation: "ECL" },
    },
  );
}

/**
 * Starts an ECL with Swank, loaded from its sources, that serves this process over an inherited socket. It builds and keeps no files.
 *
 * @throws SwankError `LAUNCH_FAILED`; `INVALID_ARGUMENT`; `CANCELLED`
 */
export async function startEcl({ ingredients, options, greeting, env }: LaunchPlan): Promise<StartedImage> {
  const { lisp, swankFolder } = ingredients;
  checkOptionsForEcl(options, lisp);
  checkFolderForEcl(swankFolder, "Swank");
  checkFolderForEcl(fileURLToPath(LISP_FOLDER), "this package");
  const { cwd, onLog, signal, startTimeout = DEFAULT_START_TIMEOUT } = options;
  const forms = [
    ...BEFORE_SWANK.map(loadForm),
    callForm("ecl-system:die-with-parent"),
    callForm("process:load-swank", swankFolder),
    ...AFTER_SWANK.map(loadForm),
    callForm("launch:serve", process.pid, greeting),
  ];
  return startImage({
    name: "ecl",
    runtime: lisp.runtime,
    args: ["--norc", "--eval", endingAtErrors(forms)],
    cwd,
    env,
    onLog,
    greeting,
    timeout: startTimeout,
    signal,
  });
}

function loadForm(file: string): string {
  return `(cl:load ${print(lispFile(file))} :verbose cl:nil)`;
}

/** Text of a form that reads and evaluates other forms in order. An error is printed, and ends the process: ECL would not print all of them. */
function endingAtErrors(forms: readonly string[]): string {
  return `(cl:handler-bind ((cl:error (cl:lambda (problem)
    (cl:format cl:*error-output* "~&Unhandled ~s: ~a~%" (cl:type-of problem) problem)
    (cl:finish-output cl:*error-output*)
    (ext:exit 1))))
  (cl:dolist (form '${print(forms)}) (cl:eval (cl:read-from-string form))))`;
}
