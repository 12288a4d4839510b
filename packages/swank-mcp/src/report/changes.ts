import type { types } from "swank-client";
import { answerWith, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { cutName, cutText, fileName, firstOf, firstTexts, more } from "../text/cut.js";
import { lineDiff } from "../text/line-diff.js";
import { MAX_NAME, missingFileAnswer } from "./names.js";

const CHANGES_META = "swank-mcp/changes";

/** Most that the texts may cost together, and most changes that are listed. */
const MAX_TEXT = 16_000;

const MAX_LISTED = 100;

const MAX_ASSIGNED = 50;

const HEADINGS: Record<types.ChangeState, string> = {
  "image-only": "Only in the image, in no file",
  differs: "Evaluated, and different from the file",
  conflict: "Evaluated, and also changed in the file since it was loaded",
  changed: "Changed in the file since it was loaded",
  "maybe-changed":
    "Perhaps changed in the file since it was loaded: as long as before, and the loaded text is not recorded",
  new: "New in the file since it was loaded",
  deleted: "Deleted from the file, but still in the image",
  "file-only":
    "Defined by the file when it was loaded, but not in the image now. Evaluate it again, or delete it from the file",
  uncompared:
    "Evaluated, and in no file with this text; save-changes does not know it. Write it into a file, or it is lost with the image",
};

/** Follows the heading of changes in files whose loaded text is not known. */
const GUESSED = ", to judge by the lengths of forms";

/** The states that are known only if the loaded text is; the others are about the image, or say themselves that they are guessed. */
const OF_LOADED_TEXT: readonly types.ChangeState[] = ["changed", "new", "deleted"];

/** A predicate of changes that are guessed, because the loaded text of their file is not known. */
function guesses(files: readonly types.FileState[]): (change: types.Change) => boolean {
  const guessed = new Set(files.filter(({ state }) => state === "guessed").map(({ file }) => file));
  return ({ state, file }) => file !== undefined && guessed.has(file) && OF_LOADED_TEXT.includes(state);
}

const STATES = Object.keys(HEADINGS).filter((state): state is types.ChangeState => state in HEADINGS);

interface Wanted {
  readonly file: string | undefined;
  readonly text: boolean;
}

export function changesAnswer(changes: types.Changes, wanted: Wanted, guide: ToolGuide): ToolAnswer {
  if (changes.status === "file-not-found") return missingFileAnswer(changes, CHANGES_META, guide);
  const { leftOut, files, assigned } = changes;
  const found = changes.changes.map(({ text, fileText, ...place }) => place);
  return answerWith([changesText(changes, wanted)], CHANGES_META, { changes: found, leftOut, files, assigned });
}

function changesText(
  { changes, leftOut, files, assigned }: types.FoundChanges,
  { file, text: withText }: Wanted,
): string {
  const { shown, left } = firstOf(changes, MAX_LISTED);
  const room = { left: withText ? MAX_TEXT : 0 };
  const isGuess = guesses(files);
  const sections = STATES.flatMap((state) =>
    [false, true].flatMap((guessed) => {
      const some = shown.filter((change) => change.state === state && isGuess(change) === guessed);
      const heading = `${HEADINGS[state]}${guessed ? GUESSED : ""}`;
      return some.length === 0 ? [] : [[`${heading}:`, ...some.map((each) => entryText(each, room))].join("\n")];
    }),
  );
  const rest = left + leftOut > 0 ? [more(left + leftOut, "change")] : [];
  const agreement =
    sections.length === 0 ? inOthers("Image and files agree", "Image and other files agree", file, files) : [];
  return [...agreement, ...sections, ...rest, ...assignedText(assigned), ...doubts(files)].join("\n\n");
}

/** The sentence that nothing was found: `all`, or `others` if some files were not compared, or none if that is the only wanted `file`. */
export function inOthers(
  all: string,
  others: string,
  file: string | undefined,
  files: readonly types.FileState[],
): string[] {
  if (files.every(({ state }) => state === "compared" || state === "guessed")) return [`${all}.`];
  return file === undefined ? [`${others}.`] : [];
}

/** The line of a change and, as long as there is room, its text or diff. */
function entryText(change: types.Change, room: { left: number }): string {
  const body = room.left > 0 ? bodyOf(change) : "";
  if (body === "") return changeHeading(change);
  const shown = cutText(body, room.left);
  room.left -= shown.length;
  return `${changeHeading(change)}\n${indented(shown)}`;
}

/** The line that names a change: its kind, name and place. */
export function changeHeading({
  kind,
  name,
  file,
  line,
  column,
  state,
  fromClient,
}: types.Change | types.ChangedForm): string {
  const place =
    file === undefined ? "" : ` ${[fileName(file), line, column].filter((part) => part !== undefined).join(":")}`;
  const isForeign = !fromClient && (state === "image-only" || state === "differs" || state === "conflict");
  const label = kind === undefined ? "form" : kind.replace("-", " ");
  return `${kind === "method" ? "" : `${label} `}${cutName(name, MAX_NAME)}${place}${isForeign ? " (not from this session)" : ""}`;
}

/** The diff that makes the image or the loaded text out of the other one, or the text that is known. */
function bodyOf({ state, text, fileText }: types.Change): string {
  if (state === "differs" || state === "conflict" || (state === "uncompared" && fileText !== undefined))
    return lineDiff(fileText ?? "", text ?? "");
  if (state === "changed" && text !== undefined) return lineDiff(text, fileText ?? "");
  return state === "image-only" || state === "uncompared" ? (text ?? "") : "";
}

export function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`.trimEnd())
    .join("\n");
}

function assignedText(assigned: types.FoundChanges["assigned"]): string[] {
  if (assigned.length === 0) return [];
  const lines = firstTexts(
    assigned,
    MAX_ASSIGNED,
    ({ name, value, file }) =>
      `${cutName(name, MAX_NAME)} = ${value} (${file === undefined ? "no file defines it" : `defined in ${file}`})`,
    "variable",
  );
  return [["Variables set in this session; no file has these assignments:", ...lines].join("\n")];
}

/** What could not be compared. */
export function doubts(files: readonly types.FileState[]): string[] {
  const named = (state: string) => files.filter((each) => each.state === state).map(({ file }) => fileName(file));
  const list = (names: readonly string[], text: string) => (names.length === 0 ? [] : [`${text}: ${names.join(", ")}`]);
  return [
    ...list(named("guessed"), "Compared by the lengths of forms only, because the loaded text is not recorded"),
    ...list(
      named("failed"),
      "Not loaded to its end, because loading failed or still runs (load-system loads it whole)",
    ),
    ...list(
      named("unloaded"),
      "Not loaded, as far as Lisp has recorded (load-system loads a system or file, compile-code with load a file)",
    ),
    ...list(
      named("undated"),
      "Not compared, because its date does not show whether it has changed since it was loaded (load it again)",
    ),
    ...list(named("unreadable"), "Not compared, because not all forms can be read"),
  ];
}
