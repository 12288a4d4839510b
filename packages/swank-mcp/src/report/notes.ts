import type { types } from "swank-client";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { cutName, cutText, fileName, firstOf, howMany, oneLine } from "../text/cut.js";
import { missingFileAnswer, missingNameAnswer } from "./names.js";
import { REFERENCE, redefinitionLines } from "./report.js";

const COMPILED_META = "swank-mcp/compiled";

/** Most notes shown, and characters of one message and of a form. */
const MAX_NOTES = 50;

const MAX_MESSAGE = 600;

const MAX_FORM = 100;

/** The severities, the worst first, with their names in texts. */
const NAMES = {
  "read-error": "error",
  error: "error",
  warning: "warning",
  "style-warning": "style warning",
  note: "note",
} as const satisfies Record<types.CodeNote["severity"], string>;

/** The end of a reader's error: how far it read, and the stream. */
const READ_TO = /\s*Line: (\d+), Column: (\d+), File-Position: [\s\S]*$/;

type CompiledCode = Extract<types.Compiled, { status: "compiled" }>;

/** The answer of compile-code. @param load - Whether the caller wanted the code to be loaded. */
export function compiledAnswer(compiled: types.Compiled, load: boolean, guide: ToolGuide): ToolAnswer {
  switch (compiled.status) {
    case "compiled": {
      const { redefinitions, ...facts } = compiled;
      const texts = [heading(compiled, load), ...oldCode(redefinitions, guide), ...noteTexts(compiled)];
      const isError = compiled.failed || compiled.loadError !== undefined;
      return answerWith([texts.join("\n\n")], COMPILED_META, facts, isError);
    }
    case "failed":
      return answerWith([`The compiler was ended by ${failureText(compiled)}`], COMPILED_META, compiled, true);
    case "package-not-found":
      return missingNameAnswer(compiled, { name: compiled.package, similar: [] }, COMPILED_META, guide);
    case "file-not-found":
      return missingFileAnswer(compiled, COMPILED_META, guide);
  }
}

/** What is left of old definitions after loading. The caller knows what the code redefined. */
function oldCode(redefinitions: types.Redefinitions, guide: ToolGuide): string[] {
  const lines = redefinitionLines({ ...redefinitions, count: 0, files: [] }, guide);
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function heading(compiled: CompiledCode, load: boolean): string {
  const { file = "The code", notes, failed, loaded, loadError } = compiled;
  const verdict = `${fileName(file)} ${failed ? "does not compile" : "compiles"}${notes.length === 0 ? "" : `: ${counts(compiled)}`}.`;
  if (loadError !== undefined)
    return `${verdict} Loading it was ended by ${failureText(loadError, "; the forms before that are loaded")}`;
  if (loaded) return `${verdict} It is loaded.`;
  return load ? `${verdict} Nothing was loaded.` : verdict;
}

/** The type of an error with the place and text of its form, what else is to be said, and the message. */
function failureText({ type, message, file, line, column, form }: types.CodeFailure, remark = ""): string {
  const place =
    line === undefined ? "" : ` at ${[...(file === undefined ? [] : [fileName(file)]), line, column ?? 1].join(":")}`;
  const source = form === undefined ? "" : `\n    ${oneLine(form, MAX_FORM)}`;
  return `${cutName(type)}${place}${remark}:\n${cutText(message)}${source}`;
}

type Noted = Pick<CompiledCode, "notes" | "leftOut"> & { readonly file?: string | undefined };

export function counts({ notes, leftOut }: Noted): string {
  const names = notes.map(({ severity }) => NAMES[severity]);
  const parts = [...new Set(Object.values(NAMES))].flatMap((name) => {
    const count = names.filter((other) => other === name).length;
    return count === 0 ? [] : [howMany(count, name)];
  });
  return [...parts, ...(leftOut > 0 ? [`${leftOut} more that were not kept`] : [])].join(", ");
}

/** The notes, the worst first. @param max - Most notes shown. */
export function noteTexts({ file, notes, leftOut }: Noted, max = MAX_NOTES): string[] {
  const order = Object.keys(NAMES);
  const sorted = [...notes].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  const { shown, left } = firstOf(sorted, max);
  const rest = { notes: sorted.slice(shown.length), leftOut };
  const others = left + leftOut > 0 ? [`... ${left + leftOut} more: ${counts(rest)}`] : [];
  return [...shown.map((note) => noteText(note, file)), ...others];
}

function noteText(note: types.CodeNote, compiledFile: string | undefined): string {
  const { severity, message, file = compiledFile, line, column, form, definition, suspects = [], repair = [] } = note;
  const numbers = line === undefined ? [] : [line, column ?? 1];
  const place = [...(file === undefined ? [] : [fileName(file)]), ...numbers].join(":");
  const where = definition === undefined ? "" : ` in ${oneLine(definition, MAX_FORM)}`;
  const head = `${place === "" ? "" : `${place}: `}${severity.toUpperCase()}${where}: ${indented(message)}`;
  const lines = form === undefined || form === "" ? [] : [`    ${oneLine(form, MAX_FORM)}`];
  const doubts = suspects.map((suspect) => `    line ${suspect.line}: ${oneLine(suspect.text, MAX_FORM)}`);
  const mended = repair.flatMap((each) => [
    `    line ${each.line}: - ${oneLine(each.before, MAX_FORM)}`,
    `    ${" ".repeat(`line ${each.line}:`.length)} + ${oneLine(each.after, MAX_FORM)}`,
  ]);
  const proposal = mended.length === 0 ? [] : ["    By its indentation, it may mean (not applied):", ...mended];
  return [head, ...lines, ...doubts, ...proposal].join("\n");
}

/** The message without SBCL's reference to its manual, the stream of a reader's error, and blank lines. */
function indented(message: string): string {
  const text = message.replace(REFERENCE, "").replace(READ_TO, "\nThe reader has come to line $1, column $2.");
  return cutText(text, MAX_MESSAGE)
    .trim()
    .replace(/\n[ \t]*(?=\n)/g, "")
    .replace(/\n/g, "\n  ");
}
