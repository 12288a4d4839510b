import { keyword, print, read } from "sexp-parser";
import { checkChoice, checkOptions, checkText, checkTexts } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { prepareProfile, profileProgress, profileReply } from "../calls/profile.js";
import { PROFILE_MODES, type Profile } from "../calls/profile-data.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { checkBalanced } from "./check-balanced.js";
import { PROFILE_OPTIONS, type ProfileOptions, type ProfileSource } from "./program-options.js";
import { millisecondsOf, newKey, type RunCode } from "./run-code.js";

/** Loads what profiles, and returns code that profiles. */
export async function profileCode(
  lisp: LispRunner,
  source: ProfileSource,
  options: ProfileOptions,
): Promise<RunCode<Profile>> {
  checkOptions("profile", options, PROFILE_OPTIONS);
  const { mode = "cpu", package: packageName, functions = [], signal } = options;
  checkChoice("mode", mode, PROFILE_MODES);
  if (packageName !== undefined) checkText("package", packageName);
  checkTexts("functions", functions);
  checkCounted(options);
  const [operator, operands] = callOf(source);
  const key = newKey();
  await lisp.with({ signal }).run(prepareProfile, { key, mode, packageName, names: functions });
  const what = [key, keyword(mode), packageName ?? [], ...operands].map((item) => print(item)).join(" ");
  return {
    code: `(${await lisp.loadedOperator(operator, "profile", signal)} ${what})`,
    result(value) {
      const reply = profileReply(read(value));
      if (reply instanceof SwankError) throw reply;
      return reply;
    },
    progress: (limits = {}) => lisp.with({ signal: limits.signal }).run(profileProgress, key),
  };
}

function checkCounted({ mode, package: packageName, functions = [] }: ProfileOptions): void {
  const isCounted = functions.length > 0 || packageName !== undefined;
  if (mode === "calls" && !isCounted) {
    throw new SwankError("INVALID_ARGUMENT", "Nothing is named whose calls are counted.", {
      remedy: "Name functions, or the package whose functions are counted.",
    });
  }
  if (mode !== "calls" && functions.length > 0) {
    throw new SwankError("INVALID_ARGUMENT", "Only the mode calls takes functions.", {
      remedy: 'Set the mode to "calls", or name a package whose functions count.',
    });
  }
}

function callOf(source: ProfileSource): readonly [operator: string, operands: readonly (string | number | [])[]] {
  if ("seconds" in source) return ["profile-seconds", [millisecondsOf(source.seconds)]];
  const { code, against } = source;
  checkBalanced("code", code);
  if (against !== undefined) checkBalanced("against", against);
  return ["profile-code", [code, against ?? []]];
}
