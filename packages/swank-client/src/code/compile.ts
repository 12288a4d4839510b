import { checkOptions, checkText } from "../base/check-arguments.js";
import { type CompileReply, compileCode } from "../calls/compile-code.js";
import type { Compiled } from "../calls/compiled-code.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { COMPILE_OPTIONS, type CompileOptions } from "./code-options.js";
import { locatedNotes } from "./unreadable-notes.js";

/** What to compile: a text, or a file relative to the image's directory. */
export type CompileSource = { readonly code: string } | { readonly file: string };

/** Compiles code. Where the reader has failed, names the parenthesis or quote that is unbalanced. */
export async function compile(lisp: LispRunner, source: CompileSource, options: CompileOptions): Promise<Compiled> {
  checkOptions("compile", options, COMPILE_OPTIONS);
  const { load = false, package: packageName, signal } = options;
  if ("code" in source) checkText("code", source.code);
  else checkText("file", source?.file);
  if (packageName !== undefined) checkText("package", packageName);
  return explained(await lisp.with({ signal }).run(compileCode, source, packageName, load === true));
}

function explained({ compiled, text }: CompileReply): Compiled {
  if (compiled.status !== "compiled" || text === undefined) return compiled;
  const isOfSource = ({ file }: { readonly file?: string | undefined }) => file === undefined || file === compiled.file;
  return { ...compiled, notes: locatedNotes(compiled.notes, text, isOfSource) };
}
