import { type CompileReply, compileCode } from "../calls/compile-code.js";
import type { CodeNote, Compiled } from "../calls/compiled-code.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { findUnbalanced, lineText } from "../sources/unbalanced.js";

/** Compiles code. Where the reader has failed, names the parenthesis or quote that is unbalanced. */
export async function compile(
  lisp: LispRunner,
  source: { readonly code: string } | { readonly file: string },
  packageName: string | undefined,
  load: boolean,
): Promise<Compiled> {
  return explained(await lisp.run(compileCode, source, packageName, load));
}

function explained({ compiled, text }: CompileReply): Compiled {
  if (compiled.status !== "compiled" || text === undefined) return compiled;
  return { ...compiled, notes: compiled.notes.map((note) => (isAbout(note, compiled) ? located(note, text) : note)) };
}

function isAbout({ severity, file }: CodeNote, compiled: { readonly file: string | undefined }): boolean {
  return severity === "read-error" && (file === undefined || file === compiled.file);
}

function located(note: CodeNote, text: string): CodeNote {
  const found = findUnbalanced(text);
  if (found === undefined) return note;
  const { line, column, message } = found;
  const suspects = found.suspects.map((suspect) => ({ line: suspect, text: lineText(text, suspect) }));
  return { ...note, line, column, message, suspects, form: lineText(text, line).slice(column - 1) };
}
