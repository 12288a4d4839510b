import { outlineCode } from "swank-client";
import { Refusal } from "../refusals/refusal.js";

/** Arguments of tools that are code. */
const CODE_ARGUMENTS: readonly string[] = ["code", "condition", "log", "object", "against", "values"];

/** Names of languages that Markdown writes after the mark of a fence. */
const LANGUAGE = /^[ \t]*(?:[a-z][\w+-]*)?[ \t\r]*$/i;
/** Code in a fence of several lines: the mark, what follows it, and the code. */
const FENCE = /^(`{3,}|~{3,})([^\n`]*)\n([\s\S]*?)\n?[ \t]*\1$/;
/** Code in a fence of one line. */
const LINE_FENCE = /^(`{3,})(?:(?:common-?lisp|emacs-lisp|elisp|lisp|cl|scheme)(?=[\s(]))?([^`\n]*)\1$/i;
/** A prompt, as Lisps print it with the package's name. */
const PROMPT = /^(?:[A-Z0-9][A-Z0-9.+/-]*|\[\d+\])>$/;

/** Returns the arguments of a tool with the code in them as it was meant, without what a chat writes around it. @throws Refusal */
export function plainArguments(args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      CODE_ARGUMENTS.includes(name) ? plainArgument(value, name) : value,
    ]),
  );
}

function plainArgument(value: unknown, name: string): unknown {
  if (typeof value === "string") return plainCode(value, name);
  return Array.isArray(value) ? value.map((item: unknown) => plainArgument(item, name)) : value;
}

/**
 * Code without a byte order mark, a Markdown fence, quotation marks (`> `) or a prompt around all of it.
 *
 * @throws Refusal if such a mark is somewhere else, where Lisp would read it as code and run the forms around it
 */
export function plainCode(code: string, name = "code"): string {
  const text = code.startsWith("\uFEFF") ? code.slice(1) : code;
  if (!/[`~>]/.test(text)) return text;
  const plain = unprompted(unquoted(unfenced(text)));
  const mark = strayMark(plain);
  if (mark !== undefined)
    throw new Refusal("INVALID_ARGUMENTS", `The argument "${name}" holds ${mark}, which is no Lisp. Nothing was run.`, {
      remedy: "Send the code alone, without Markdown, prompts or results.",
    });
  return plain;
}

function unfenced(text: string): string {
  const trimmed = text.trim();
  const [, mark = "", info = "", code] = FENCE.exec(trimmed) ?? [];
  if (code !== undefined && LANGUAGE.test(info) && !code.split("\n").some((line) => line.trimStart().startsWith(mark)))
    return code;
  return LINE_FENCE.exec(trimmed)?.[2]?.trim() ?? text;
}

function unquoted(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0 || !lines.every((line) => /^ {0,3}>(?: |$)/.test(line))) return text;
  const code = text.replaceAll(/^ {0,3}> ?/gm, "");
  return code.trim() === "" ? text : unfenced(code);
}

/** Without a prompt before the only form. */
function unprompted(text: string): string {
  const { state, forms } = outlineCode(text);
  const [first, second] = forms;
  if (state !== "complete" || forms.length !== 2 || first === undefined || second === undefined) return text;
  return PROMPT.test(text.slice(first.offset, first.end)) ? text.slice(first.end) : text;
}

/** The mark of Markdown or of a prompt that stands between the forms of code, in words. */
function strayMark(text: string): string | undefined {
  const { forms } = outlineCode(text);
  for (const { offset, end } of forms) {
    const form = text.slice(offset, end);
    if (form.startsWith("```") || /^~{3,}/.test(form)) return "a Markdown fence";
    if (form === ">" && forms.length > 1) return "a quotation mark of Markdown (>)";
    if (PROMPT.test(form) && forms.length > 1) return `a prompt (${form})`;
  }
  const rest = text.slice(forms.at(-1)?.end ?? 0);
  return /^\s*(?:```|~~~)/.test(rest) ? "a Markdown fence" : undefined;
}
