import { checkText } from "../base/check-arguments.js";
import { SwankError } from "../base/errors.js";
import { findUnbalanced } from "../sources/unbalanced.js";

/** @throws SwankError `INVALID_ARGUMENT` unless `code` is source code whose parentheses and quotes are balanced. */
export function checkBalanced(name: string, code: string): void {
  checkText(name, code);
  const unbalanced = findUnbalanced(code);
  if (unbalanced === undefined) return;
  const { line, column, message } = unbalanced;
  throw new SwankError("INVALID_ARGUMENT", `${name}, line ${line}, column ${column}: ${message}.`, {
    remedy: "Correct the code. Nothing was evaluated.",
  });
}
