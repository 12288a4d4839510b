import type { types } from "swank-client";
import * as z from "zod";
import type { JsonObject, ToolAnswer, ToolGuide } from "../base/answer.js";
import { defineTool } from "../call/tool.js";
import {
  answerForEach,
  definitionLine,
  MAX_NAME,
  missingAnswer,
  missingNameAnswer,
  oneOrSeveral,
  similarNames,
  similarNamesHint,
} from "../report/names.js";
import { cutName, cutText, firstOf, groupedBy, howMany, more } from "../text/cut.js";

/** Modes of which Lisp may not record all references. */
const RECORDED: ReadonlySet<types.ReferenceKind> = new Set([
  "callers",
  "references",
  "bindings",
  "assignments",
  "macro-uses",
]);

/** Reasons that say only what a name is not. Another reason follows if the name is something else. */
const NOTHING: ReadonlySet<types.NoReferences["reason"]> = new Set([
  "no-function",
  "no-macro",
  "no-variable",
  "no-class",
]);

/** Whether the symbol of a name exists, but nothing is defined by that name, and nothing refers to it. */
function namesNothing(found: types.References): boolean {
  return (
    found.status === "found" && found.reasons.length > 0 && found.reasons.every(({ reason }) => NOTHING.has(reason))
  );
}

/** Lines that say why nothing refers to a name, and what to ask for instead. */
function noReferencesLines(
  { reasons, lispCount }: types.FoundReferences,
  name: string,
  mode: types.ReferenceKind,
): string[] {
  if (reasons.length > 0) return reasons.map((reason) => reasonLine(reason, name));
  if (lispCount > 0 || !RECORDED.has(mode)) return [];
  return ["Uses by a name that is computed at run time are not recorded, and none outside of compiled code."];
}

function reasonLine({ reason, package: home, functions = 0 }: types.NoReferences, name: string): string {
  switch (reason) {
    case "interpreted":
      return `${howMany(functions, "function")} of package ${home} evaluated with sb-ext:*evaluator-mode* :interpret: their references are not recorded.`;
    case "no-data":
      return `${howMany(functions, "function")} of package ${home}, and none has cross references: SBCL records none with (space 3).`;
    case "is-interpreted":
      return `${name} was evaluated with sb-ext:*evaluator-mode* :interpret: what it calls is not recorded.`;
    case "inline":
      return `${name} is declared inline: calls that were compiled inline without cross references are not known.`;
    case "constant-inlined":
      return `${name} is a constant: the compiler may have put its value in its place.`;
    case "constant":
      return `${name} is a constant: it cannot be bound or assigned.`;
    case "no-function":
      return `${name} is not a function.`;
    case "function":
      return `${name} is a function: ask for mode callers.`;
    case "macro":
      return `${name} is a macro: ask for mode macro-uses.`;
    case "no-macro":
      return `${name} is not a macro.`;
    case "special-operator":
      return `${name} is a special operator: its uses are not recorded.`;
    case "no-variable":
      return `${name} is not a special variable: uses of lexical variables are not recorded.`;
    case "symbol-macro":
      return `${name} is a symbol macro: its uses are not recorded.`;
    case "type":
      return `${name} is a type, not a class.`;
    case "class":
      return `${name} is a class: ask for mode specializers or subclasses.`;
    case "variable":
      return `${name} is a special variable: ask for mode references.`;
    case "no-class":
      return `${name} is not a class.`;
  }
}

const REFERENCES_META = "swank-mcp/references";

const MAX_LISP_NAMES = 12;

/** Most definitions by one form that are named after its first. */
const MAX_OF_FORM = 3;

/** What is counted: one, several, and the words before the name. */
const COUNTED: Record<types.ReferenceKind, readonly [one: string, several: string, of: string]> = {
  callers: ["caller", "callers", "of"],
  callees: ["function is", "functions are", "called by"],
  references: ["definition refers", "definitions refer", "to"],
  bindings: ["definition binds", "definitions bind", ""],
  assignments: ["definition assigns", "definitions assign", ""],
  "macro-uses": ["definition uses", "definitions use", "the macro"],
  specializers: ["method specializes", "methods specialize", "on"],
  subclasses: ["subclass", "subclasses", "of"],
};

interface Asked {
  readonly name: string;
  readonly mode: types.ReferenceKind;
  readonly start: number;
  /** Names that are similar to one that was not found, or has no definition. */
  readonly similar: readonly string[];
}

function referencesAnswer(found: types.References, asked: Asked, guide: ToolGuide): ToolAnswer {
  if (found.status !== "found") return missingNameAnswer(found, asked, REFERENCES_META, guide);
  const text = cutText(found.count === 0 ? noneText(found, asked) : someText(found, asked));
  const meta = { [REFERENCES_META]: referencesData(found) };
  if (!namesNothing(found)) return { blocks: [text], isError: false, meta };
  return missingAnswer({ what: "name", blocks: [text, ...similarNamesHint(asked.similar)], meta }, guide);
}

function noneText(found: types.FoundReferences, { mode }: Asked): string {
  const name = cutName(found.name, MAX_NAME);
  const what = `${counted(0, mode)} ${name}${found.lispCount > 0 ? " in the program" : ""}.`;
  return [what, ...ownLines(found, mode), ...noReferencesLines(found, name, mode)].join("\n");
}

function someText(found: types.FoundReferences, { mode, start }: Asked): string {
  const { references, count, files, name } = found;
  const end = start + references.length;
  const where = files > 1 ? ` in ${files} files` : "";
  const part =
    references.length === count ? "" : `; ${references.length === 0 ? `none from ${start} on` : `${start + 1}-${end}`}`;
  const rest = [...(end < count ? [`For more, pass start: ${end}.`] : []), ...ownLines(found, mode)];
  return [
    `${counted(count, mode)} ${cutName(name, MAX_NAME)}${where}${part}${references.length === 0 ? "." : ":"}`,
    ...[...groupedBy(references, ({ file = "" }) => file).values()].map((inFile) =>
      [...groupedBy(inFile, formOf).values()].map(formLine).join("\n"),
    ),
    ...(rest.length > 0 ? [rest.join("\n")] : []),
  ].join("\n\n");
}

function counted(count: number, mode: types.ReferenceKind): string {
  const [one, several, of] = COUNTED[mode];
  return `${count === 0 ? "No" : count} ${count === 1 || (count === 0 && of !== "of") ? one : several} ${of}`.trimEnd();
}

function ownLines({ lispCount, lispNames }: types.FoundReferences, mode: types.ReferenceKind): string[] {
  if (lispCount === 0) return [];
  const { shown } = firstOf(lispNames, MAX_LISP_NAMES);
  const left = lispCount - shown.length;
  const names = [...shown.map((name) => cutName(name)), ...(left > 0 ? [more(left, "name")] : [])];
  return [`${mode === "callees" ? "Lisp's own" : "In Lisp itself"}: ${names.join(", ")}`];
}

/**
 * The references of a file by the form that makes them: a class makes methods that read and write its slots. Evaluated forms have no lines, and
 * are told apart by their evaluation and first line.
 */
function formOf({ head, line, column, name, origin }: types.Reference): string {
  if (head === undefined) return `:${name}`;
  return line === undefined ? `${origin}:${head}` : `${line}:${column}`;
}

function formLine([first, ...others]: readonly [types.Reference, ...types.Reference[]]): string {
  const { shown, left } = firstOf(others, MAX_OF_FORM);
  const names = shown.map(({ name }) => cutName(name, MAX_NAME));
  return definitionLine(first, left > 0 ? [...names, more(left, "definition")] : names);
}

function referencesData({
  status,
  name,
  references,
  count,
  files,
  lispCount,
  reasons,
}: types.FoundReferences): JsonObject {
  return {
    status,
    name,
    references: references.map(({ head, ...reference }) => reference),
    count,
    files,
    lispCount,
    ...(reasons.length > 0 ? { reasons } : {}),
  };
}

export const findReferences = defineTool({
  name: "find-references",
  family: "code",
  needs: "xref",
  effect: "reads",
  title: "Find references",
  description:
    "See what a change affects: the definitions that use a name, by file with line and first line of the form, from the compiler's cross references. If there are none, says why.",
  input: () =>
    z.strictObject({
      name: oneOrSeveral().describe("As code writes it: run, app:*limit*, (setf size); several with spaces"),
      mode: z
        .enum([
          "callers",
          "callees",
          "references",
          "bindings",
          "assignments",
          "macro-uses",
          "specializers",
          "subclasses",
        ])
        .describe("Of a function; of a special variable; of a macro; of a class (specializers: methods on it)"),
      package: z.string().min(1).optional().describe("Package of the name (default: the current one)"),
      start: z.int().min(0).optional().describe("Skip this many; 50 are shown"),
    }),
  async run({ name, mode, package: packageName, start = 0 }, { session, signal, guide }) {
    const lisp = await session();
    const { client } = lisp;
    return answerForEach(name, REFERENCES_META, async (each) => {
      const found = await client.code.findReferences(each, mode, { package: packageName, start, signal });
      const similar = await similarNames(lisp, each, found, namesNothing(found), packageName);
      return referencesAnswer(found, { name: each, mode, start, similar }, guide);
    });
  },
});
