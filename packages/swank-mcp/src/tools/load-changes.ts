import type { types } from "swank-client";
import { changesCode } from "swank-client/internal";
import * as z from "zod";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { answerPresented } from "../call/evaluate.js";
import { preparedWithin } from "../call/run-call.js";
import { defineTool, timeoutInput } from "../call/tool.js";
import { changeHeading, doubts, indented, inOthers } from "../report/changes.js";
import { missingFileAnswer } from "../report/names.js";
import { noteTexts } from "../report/notes.js";
import { insideLines } from "../report/report.js";
import { cutName, cutText, firstTexts } from "../text/cut.js";
import { lineDiff } from "../text/line-diff.js";

const LOADED_META = "swank-mcp/loaded-changes";

/** Most forms that are listed under one heading, and users of one old definition that are named. */
const MAX_FORMS = 100;

const MAX_USERS = 20;

const HEADINGS: Record<types.FormOutcome, string> = {
  loaded: "Loaded",
  failed: "Not loaded, because it does not compile; the image has its old definition",
  pending: "Not loaded, because an earlier form failed",
  skipped: "Left out when it had stopped",
  structure:
    "Not loaded, because a structure changed: instances and compiled code have the old one. Load its file and those that use it, best in a new image",
  constant:
    "Not loaded, because a constant changed: compiled code contains the old value. Load its file and those that use it",
  reader:
    "Not loaded, because a form of the file may change the readtable only when the file is loaded whole. Load the whole file",
  package:
    "Not loaded, because an in-package form changed or was deleted: forms that did not change are now in another package. Load the whole file",
  deleted: "Deleted from the file, but still in the image",
};

const OUTCOMES = Object.keys(HEADINGS).filter((outcome): outcome is types.FormOutcome => outcome in HEADINGS);

const PROBLEMS: Record<types.UnloadedName["problem"], string> = {
  undefined: "Not defined",
  "no-file": "Not evaluated again, because no file of the program defines them",
  unsaved:
    "Not evaluated again, because what was evaluated differs from the file. Save them by save-changes, or evaluate them",
};

const KINDS = Object.keys(PROBLEMS).filter((kind): kind is types.UnloadedName["problem"] => kind in PROBLEMS);

/** The answer of load-changes. @param wanted - The only file, and the only names, that were wanted. */
function loadedChangesAnswer(
  changes: types.LoadedChanges | types.FileNotFound,
  wanted: { readonly file?: string | undefined; readonly names?: readonly string[] | undefined },
  guide: ToolGuide,
): ToolAnswer {
  if (changes.status === "file-not-found") return missingFileAnswer(changes, LOADED_META, guide);
  const { forms, files, notes, unloaded, inside, leftOut } = changes;
  const sections = OUTCOMES.flatMap((outcome) => section(outcome, forms));
  const nothing =
    wanted.names !== undefined || forms.some(({ outcome }) => outcome !== "deleted")
      ? []
      : inOthers("Nothing to load", "Nothing to load from other files", wanted.file, files);
  const problems = KINDS.flatMap((kind) => {
    const names = unloaded.filter(({ problem }) => problem === kind).map(({ name }) => name);
    return names.length === 0 ? [] : [`${PROBLEMS[kind]}: ${named(names)}`];
  });
  const texts = [...nothing, ...sections, ...problems, ...insideLines(inside), ...noteTexts(changes), ...doubts(files)];
  const isError =
    unloaded.length > 0 ||
    forms.some(({ outcome }) => outcome === "failed") ||
    notes.some(({ severity }) => severity === "read-error");
  const facts = forms.map(({ text, fileText, fromClient, ...form }) => form);
  const data = { unloaded, inside, forms: facts, files, notes, leftOut };
  return answerWith([texts.join("\n\n")], LOADED_META, data, isError);
}

function section(wanted: types.FormOutcome, forms: readonly types.ChangedForm[]): string[] {
  const some = forms.filter(({ outcome }) => outcome === wanted);
  if (some.length === 0) return [];
  return [[`${HEADINGS[wanted]}:`, ...firstTexts(some, MAX_FORMS, formText, "form")].join("\n")];
}

function formText(form: types.ChangedForm): string {
  const { outcome, state } = form;
  const replaced =
    outcome === "loaded" && state === "conflict"
      ? `\n  It replaced what was evaluated and not saved (-):\n${indented(cutText(lineDiff(form.text ?? "", form.fileText ?? "")))}`
      : "";
  return `${changeHeading({ ...form, fromClient: true })}${remarkText(form)}${replaced}`;
}

function remarkText({ remark, users, outcome }: types.ChangedForm): string {
  switch (remark) {
    case "old-expansion":
      return users.length === 0
        ? "\n  Code compiled with the old one keeps it until you load it again."
        : `\n  Compiled with the old one; load them again: ${named(users)}`;
    case "value-kept":
      return "\n  The variable keeps its value: defvar does not set it again.";
    case "package-kept":
      return "\n  The package keeps what the form no longer names, and code keeps the symbols with which it was read.";
    case undefined:
      return outcome === "loaded" || users.length === 0 ? "" : `\n  Compiled with the old one: ${named(users)}`;
  }
}

function named(users: readonly string[]): string {
  return firstTexts(users, MAX_USERS, cutName, "function").join(", ");
}

export const loadChanges = defineTool({
  name: "load-changes",
  family: "code",
  needs: "runtime",
  effect: "evaluates",
  title: "Load changes",
  description:
    "Use after you edit loaded files: compiles and loads only top-level forms that changed, in their package. Says what needs more: users of macros, structures, readtables, deleted forms.",
  input: (config) =>
    z.strictObject({
      file: z.string().min(1).optional().describe("Only this file (default: all)"),
      names: z.array(z.string()).optional().describe("Evaluate these again instead"),
      timeout: timeoutInput(config),
    }),
  async run({ file, names, timeout }, context) {
    const session = await context.session();
    const { onError, policy } = context.config;
    const seconds = timeout ?? context.config.timeout;
    const changes = changesCode(session.client.lisp, { file, names, signal: context.signal });
    const { code, result } = await preparedWithin(seconds, changes);
    const presenter = {
      answer: (value: string) => loadedChangesAnswer(result(value), { file, names }, context.guide),
    };
    return answerPresented({ session, code, valuesAs: "data", onError, policy }, presenter, context, seconds);
  },
});
