import { type CompileReply, compileCode } from "../calls/compile-code.js";
import type { Compiled } from "../calls/compiled-code.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { locatedNotes } from "./unreadable-notes.js";

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
  const isOfSource = ({ file }: { readonly file?: string | undefined }) => file === undefined || file === compiled.file;
  return { ...compiled, notes: locatedNotes(compiled.notes, text, isOfSource) };
}
