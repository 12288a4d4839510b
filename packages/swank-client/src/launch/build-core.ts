import { SwankError } from "../base/errors.js";
import type { CoreIngredients } from "./core-key.js";
import { coreArgs, lispEnvironment } from "./lisp-arguments.js";
import { callForm, lispFile, loadFileForm, loadSwankForms, underDefaultSettings } from "./lisp-forms.js";
import { printedText } from "./problem-text.js";
import { runLisp } from "./run-lisp.js";

/** Milliseconds that a build may take. A fast machine needs 5 s. */
const BUILD_TIMEOUT = 300_000;

/** A core to build. */
export interface CoreBuild {
  /** The folder of the compiled Swank, which is compiled there if the folder is empty. */
  readonly fasls: string;
  readonly ingredients: CoreIngredients;
  /** The greeting of images started from the core. */
  readonly greeting: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal | undefined;
  /** Whether other processes of this machine go first. */
  readonly isBackground: boolean;
  readonly onLog: ((line: string) => void) | undefined;
}

/** The forms are passed on standard input, which has no length limit. */
const READ_INPUT = "(cl:load (sb-sys:make-fd-stream 0 :input t :buffering :full :external-format :utf-8))";

/**
 * Builds a core with Swank in it.
 *
 * @param file - The core's path, in a folder that no other code uses.
 * @throws SwankError `CORE_BUILD_FAILED`; `CANCELLED`
 */
export async function buildCore(file: string, build: CoreBuild): Promise<void> {
  const { lisp } = build.ingredients;
  const limit = AbortSignal.timeout(BUILD_TIMEOUT);
  const result = await runLisp(lisp.runtime, {
    args: [...coreArgs(lisp), "--no-sysinit", "--no-userinit", "--non-interactive", "--eval", READ_INPUT],
    input: buildForms(file, build).join("\n"),
    env: lispEnvironment(lisp, build.env),
    signal: build.signal === undefined ? limit : AbortSignal.any([build.signal, limit]),
    onLine: build.onLog,
    isBackground: build.isBackground,
  });
  if (build.signal?.aborted) throw new SwankError("CANCELLED", "Building the core was cancelled.");
  if (limit.aborted && !result.succeeded)
    throw buildFailed(`not finished after ${BUILD_TIMEOUT / 60_000} minutes`, result.output);
  if (!result.succeeded) throw buildFailed(result.ending, result.output);
}

function buildForms(file: string, { ingredients, greeting, fasls }: CoreBuild): readonly string[] {
  const loading = [
    ...loadSwankForms(ingredients.swankFolder, fasls),
    loadFileForm(lispFile("launch/core")),
    ...ingredients.runtime.sources.map((text) => callForm("launch:load-runtime", text)),
  ];
  return [underDefaultSettings(loading), callForm("launch:save-core", file, greeting, ingredients.warmUp)];
}

function buildFailed(ending: string, output: string): SwankError {
  return new SwankError("CORE_BUILD_FAILED", `Lisp could not build a core (${ending}).${printedText(output)}`, {
    details: { output },
  });
}
