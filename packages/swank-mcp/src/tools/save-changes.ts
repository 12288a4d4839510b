import type { types } from "swank-client";
import * as z from "zod";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { defineTool } from "../call/tool.js";
import { changeHeading, indented } from "../report/changes.js";
import {
  type AskedName,
  MAX_NAME,
  missingAnswer,
  missingFileAnswer,
  missingNameAnswer,
  similarNames,
  similarNamesHint,
} from "../report/names.js";
import { cutName, cutText, plural } from "../text/cut.js";
import { lineDiff } from "../text/line-diff.js";

const SAVES_META = "swank-mcp/saves";

const NOTHING = "Nothing to save: no such definition was evaluated, or the file has the same text.";

export const SAVE_OUTCOMES: Record<types.SaveOutcome, string> = {
  save: "would be written; save with dry-run false",
  saved: "written",
  "no-file": "not written: no file defines it. Give its name with the file to append it to",
  "not-lisp":
    "not written: the file is no Lisp source, by its name and its forms. Name a .lisp file, or create one with its in-package form",
  "no-text": "not written: Lisp has not recorded its text. Evaluate it again",
  "file-changed": "not written: this form changed in the file since it was loaded. Merge the two by hand",
  defined:
    "not written: the file already has this form here, but the image has not loaded it. Load the file, evaluate your definition again and save that, or edit the file by hand",
  unreadable:
    "not written: the form that begins here cannot be read, so the definition may follow. Probably a parenthesis or quote is unbalanced here: compile-code with this file names the line. Mend it, then save again",
  ambiguous: "not written: the file has several such forms. Keep one, or edit the file by hand",
  "removes-others":
    "not written: it was evaluated inside of another form, such as LET, and the form here in the file has other or newer definitions, too, which would be lost. Evaluate all of them in one form, or edit the file by hand",
  "others-elsewhere":
    "not written: it was evaluated inside of another form, such as LET, with definitions that are elsewhere in the file. Edit the file by hand, then load it",
  conditional:
    "not written: #+ or #- precedes the form in the file. Edit the form in the file by hand, then load the file",
  "other-package":
    "not written: it was evaluated in another package than the file's. Evaluate it in the package of that place, then save again",
  "other-syntax":
    "not written: the file sets another readtable there than the one with which it was evaluated, or one that is not known. Edit the file by hand, then load it",
  encoding: "not written: the encoding of the file cannot represent the text",
  binary: "not written: the file is not a text. Name a source file",
  "hard-links":
    "not written: the file has several hard links, and writing it at once would separate them. Edit the file by hand",
  "being-edited":
    "not written: the file has unsaved edits in the user's Emacs. Ask the user to save or revert that buffer, then save again; or to press a in M-x swank-mcp-changes, which puts the definition into the buffer",
  "read-only": "not written: the file is read-only",
  unwritable: "not written: the folder is read-only, the file's owner cannot be kept, or the disk is full",
};

/** The answer of save-changes. @param asked - The name that the caller gave, or an empty text. */
function savesAnswer(saves: types.Saves, asked: AskedName, guide: ToolGuide): ToolAnswer {
  switch (saves.status) {
    case "found": {
      const facts = saves.saves.map(({ text, fileText, ...place }) => place);
      const text = facts.length === 0 ? NOTHING : cutText(saves.saves.map(saveText).join("\n\n"));
      return answerWith([text], SAVES_META, { saves: facts });
    }
    case "file-not-found":
      return missingFileAnswer(saves, SAVES_META, guide, asked.name === "" ? "file" : "newFile");
    case "undefined": {
      const blocks = [`${cutName(saves.name, MAX_NAME)} has no definition.`, ...similarNamesHint(asked.similar)];
      return missingAnswer({ what: "name", blocks, meta: { [SAVES_META]: saves } }, guide);
    }
    default:
      return missingNameAnswer(saves, asked, SAVES_META, guide);
  }
}

function saveText(save: types.Save): string {
  const editor = save.editor === undefined ? "" : ` (${cutName(save.editor, MAX_NAME)})`;
  const heading = `${changeHeading(save)}: ${SAVE_OUTCOMES[save.outcome]}${editor}`;
  if (save.file === undefined) return heading;
  const added = (save.text ?? "").split("\n").map((line) => `+ ${line}`.trimEnd());
  const diff = save.fileText === undefined ? added.join("\n") : lineDiff(save.fileText, save.text ?? "");
  const { outcome, lostComments: lost } = save;
  const warning =
    lost === 0 || (outcome !== "save" && outcome !== "saved")
      ? ""
      : `\n  ${lost === 1 ? "A comment inside the form is" : `${lost} comments inside the form are`} not in the evaluated text. To keep ${plural(lost, "it", "them")}, evaluate the definition with ${plural(lost, "it", "them")}, then save again.`;
  return `${heading}\n${indented(diff)}${warning}`;
}

export const saveChanges = defineTool({
  name: "save-changes",
  family: "code",
  needs: "runtime",
  effect: "writes-files",
  title: "Save changes",
  description:
    "Write definitions that you have evaluated and tested to their file, in place of the old form; comments around it stay. Shows the diff, and counts comments that only the old form has. A form that changed in the file since it was loaded is refused.",
  input: () =>
    z.strictObject({
      name: z
        .string()
        .min(1)
        .optional()
        .describe("As for show-source (default: all of this session's that differ from their file)"),
      file: z
        .string()
        .min(1)
        .optional()
        .describe("Only this file. With a name that no file defines: append to this Lisp file"),
      "dry-run": z.boolean().optional().describe("Only show the diff (default true)"),
    }),
  async run({ name, file, "dry-run": dryRun }, { session, signal, guide }) {
    const lisp = await session();
    const saves = await lisp.client.code.saveChanges({ name, file, dryRun, signal });
    const asked = name ?? "";
    const similar = await similarNames(lisp, asked, saves, saves.status === "undefined");
    return savesAnswer(saves, { name: asked, similar }, guide);
  },
});
