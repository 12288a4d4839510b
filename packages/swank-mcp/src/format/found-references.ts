import type { FoundReferences, Reference, ReferenceKind, References } from "../image/lisp-port.js";
import { cutName, cutText, firstOf, more } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { definitionLine } from "./definition-line.js";
import { MAX_NAME } from "./meaning-text.js";
import { namesNothing, noReferencesLines } from "./no-references.js";
import { missingAnswer, missingNameAnswer } from "./not-found.js";
import { similarNamesHint } from "./symbol-blocks.js";

/** Key of a result's `_meta` under which programs find the places as data. */
const REFERENCES_META = "swank-mcp/references";

/** Most names of Lisp's own definitions. */
const MAX_LISP_NAMES = 12;

/** Most definitions by one form that are named after its first. */
const MAX_OF_FORM = 3;

/** What is counted: one, several, and the words before the name. */
const COUNTED: Record<ReferenceKind, readonly [one: string, several: string, of: string]> = {
  callers: ["caller", "callers", "of"],
  callees: ["function is", "functions are", "called by"],
  references: ["definition refers", "definitions refer", "to"],
  bindings: ["definition binds", "definitions bind", ""],
  assignments: ["definition assigns", "definitions assign", ""],
  "macro-uses": ["definition uses", "definitions use", "the macro"],
  specializers: ["method specializes", "methods specialize", "on"],
  subclasses: ["subclass", "subclasses", "of"],
};

/** What was asked for. */
export interface Asked {
  readonly name: string;
  readonly kind: ReferenceKind;
  /** Index of the first reference shown. */
  readonly start: number;
  /** Names that are similar to one that was not found, or has no definition. */
  readonly similar: readonly string[];
}

/** The answer of find-references. */
export function referencesAnswer(found: References, asked: Asked, guide: ToolGuide): ToolAnswer {
  if (found.status !== "found") return missingNameAnswer(found, asked, REFERENCES_META, guide);
  const text = cutText(found.count === 0 ? noneText(found, asked) : someText(found, asked));
  const meta = { [REFERENCES_META]: referencesData(found) };
  if (!namesNothing(found)) return { blocks: [text], isError: false, meta };
  return missingAnswer({ what: "name", blocks: [text, ...similarNamesHint(asked.similar)], meta }, guide);
}

function noneText(found: FoundReferences, { kind }: Asked): string {
  const name = cutName(found.name, MAX_NAME);
  const what = `${counted(0, kind)} ${name}${found.lispCount > 0 ? " in the program" : ""}.`;
  return [what, ...ownLines(found, kind), ...noReferencesLines(found, name, kind)].join("\n");
}

function someText(found: FoundReferences, { kind, start }: Asked): string {
  const { references, count, files, name } = found;
  const end = start + references.length;
  const where = files > 1 ? ` in ${files} files` : "";
  const part =
    references.length === count ? "" : `; ${references.length === 0 ? `none from ${start} on` : `${start + 1}-${end}`}`;
  const rest = [...(end < count ? [`For more, pass start: ${end}.`] : []), ...ownLines(found, kind)];
  return [
    `${counted(count, kind)} ${cutName(name, MAX_NAME)}${where}${part}${references.length === 0 ? "." : ":"}`,
    ...groups(references).map((group) => formsOf(group).map(formLine).join("\n")),
    ...(rest.length > 0 ? [rest.join("\n")] : []),
  ].join("\n\n");
}

function counted(count: number, kind: ReferenceKind): string {
  const [one, several, of] = COUNTED[kind];
  return `${count === 0 ? "No" : count} ${count === 1 || (count === 0 && of !== "of") ? one : several} ${of}`.trimEnd();
}

function ownLines({ lispCount, lispNames }: FoundReferences, kind: ReferenceKind): string[] {
  if (lispCount === 0) return [];
  const { shown } = firstOf(lispNames, MAX_LISP_NAMES);
  const left = lispCount - shown.length;
  const names = [...shown.map((name) => cutName(name)), ...(left > 0 ? [more(left, "name")] : [])];
  return [`${kind === "callees" ? "Lisp's own" : "In Lisp itself"}: ${names.join(", ")}`];
}

/** The references of each file, of evaluated code, and those without a place. */
function groups(references: readonly Reference[]): Reference[][] {
  const byPlace = new Map<string, Reference[]>();
  for (const reference of references) {
    const place = reference.file ?? "";
    byPlace.set(place, [...(byPlace.get(place) ?? []), reference]);
  }
  return [...byPlace.values()];
}

/**
 * The references of a file by the form that makes them: a class makes methods that read and write its slots. Evaluated forms have no lines, and
 * are told apart by their evaluation and first line.
 */
function formsOf(references: readonly Reference[]): Reference[][] {
  const byForm = new Map<string, Reference[]>();
  for (const reference of references) {
    const { head, line, column, name, origin } = reference;
    const place = line === undefined ? `${origin}:${head}` : `${line}:${column}`;
    const form = head === undefined ? `:${name}` : place;
    byForm.set(form, [...(byForm.get(form) ?? []), reference]);
  }
  return [...byForm.values()];
}

function formLine([first, ...others]: readonly Reference[]): string {
  if (first === undefined) return "";
  const { shown, left } = firstOf(others, MAX_OF_FORM);
  const names = shown.map(({ name }) => cutName(name, MAX_NAME));
  return definitionLine(first, left > 0 ? [...names, more(left, "definition")] : names);
}

function referencesData({ status, name, references, count, files, lispCount, reasons }: FoundReferences): JsonObject {
  return {
    status,
    name,
    references: references.map(({ head, uses, ...reference }) => ({ ...reference, uses: [...uses] })),
    count,
    files,
    lisp_count: lispCount,
    ...(reasons.length > 0 ? { reasons: reasons.map((reason) => ({ ...reason })) } : {}),
  };
}
