import * as z from "zod";
import { misused, Refusal } from "../base/refusals.js";
import { defineTool } from "../call/tool.js";
import { compiledAnswer } from "../report/notes.js";
import { holdsForm, isSystemFile } from "../text/cut.js";

export const compileCode = defineTool({
  name: "compile-code",
  family: "code",
  needs: "compile-notes",
  effect: "evaluates",
  title: "Compile code",
  description:
    "Check code or a file before you load it: every error, warning and note of the compiler, with its place and form. Nothing runs except macros and eval-when, and no function or macro changes; SBCL already defines packages, types and structures. For unbalanced text, names the line that is probably wrong.",
  input: () =>
    z.strictObject({
      code: z.string().optional().describe("Forms to compile"),
      file: z.string().min(1).optional().describe("Instead of code: a source file"),
      package: z.string().min(1).optional().describe("Package of the code (default: the current one)"),
      load: z.boolean().optional().describe("Load it, too, if there is no error (default false)"),
    }),
  async run({ code, file, package: packageName, load }, { session, signal, guide }) {
    if (file === undefined && code !== undefined && !holdsForm(code))
      throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was compiled.");
    const source = sourceOf(code, file);
    const { client } = await session();
    const compiled = await client.code.compile(source, { package: packageName, load, signal });
    return compiledAnswer(compiled, load === true, guide);
  },
});

function sourceOf(code: string | undefined, file: string | undefined) {
  if (code !== undefined && file === undefined) return { code };
  if (code !== undefined || file === undefined)
    throw misused(
      "compile-code",
      "Give either code or a file.",
      "Correct this and call again. compile-code takes code, or a file.",
    );
  if (!isSystemFile(file)) return { file };
  const problem = "An .asd file defines systems, which ASDF compiles and loads.";
  throw misused("compile-code", problem, "Call load-system with this file.");
}
