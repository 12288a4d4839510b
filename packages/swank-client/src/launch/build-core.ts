import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SwankError } from "../base/errors.js";
import type { CoreIngredients } from "./core-key.js";
import { coreArgs, lispEnvironment } from "./lisp-arguments.js";
import { callForm, lispFile, loadFileForm, loadSwankForms, underDefaultSettings } from "./lisp-forms.js";
import { runLisp } from "./run-lisp.js";

/** Milliseconds that a build may take. A fast machine needs 5 s. */
const BUILD_TIMEOUT = 300_000;

/** A core to build. */
export interface CoreBuild {
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
 * @param folder - An empty folder that no other code uses. It holds all files of the build.
 * @returns the core's path, in that folder
 * @throws SwankError `CORE_BUILD_FAILED`; `CANCELLED`
 */
export async function buildCore(folder: string, build: CoreBuild): Promise<string> {
  const { lisp } = build.ingredients;
  const fasls = join(folder, "fasl");
  const file = join(folder, "core");
  await mkdir(fasls, { mode: 0o700 });
  const limit = AbortSignal.timeout(BUILD_TIMEOUT);
  const result = await runLisp(lisp.runtime, {
    args: [...coreArgs(lisp), "--no-sysinit", "--no-userinit", "--non-interactive", "--eval", READ_INPUT],
    input: buildForms(file, fasls, build).join("\n"),
    env: lispEnvironment(lisp, build.env),
    signal: build.signal === undefined ? limit : AbortSignal.any([build.signal, limit]),
    onLine: build.onLog,
    isBackground: build.isBackground,
  });
  if (build.signal?.aborted) throw new SwankError("CANCELLED", "Building the core was cancelled.");
  if (limit.aborted && !result.succeeded)
    throw buildFailed(`not finished after ${BUILD_TIMEOUT / 60_000} minutes`, result.output);
  if (!result.succeeded) throw buildFailed(result.ending, result.output);
  return file;
}

function buildForms(file: string, fasls: string, { ingredients, greeting }: CoreBuild): readonly string[] {
  const loading = [
    ...loadSwankForms(ingredients.swankFolder, fasls),
    loadFileForm(lispFile("launch/core")),
    ...ingredients.runtime.sources.map((text) => callForm("launch:load-runtime", text)),
  ];
  return [underDefaultSettings(loading), callForm("launch:save-core", file, greeting, ingredients.warmUp)];
}

function buildFailed(ending: string, output: string): SwankError {
  return new SwankError("CORE_BUILD_FAILED", `Lisp could not build a core (${ending}).`, { details: { output } });
}
