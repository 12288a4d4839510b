import type { FileNotFound, NameNotFound } from "../image/lisp-port.js";
import { fileName } from "../text/cut.js";
import type { JsonObject, ToolAnswer } from "../text/tool-answer.js";
import type { ToolGuide } from "../text/tool-guide.js";
import { notFoundBlocks, notFoundData } from "./symbol-blocks.js";

/** What a caller can name that may not exist, and what to do then. */
const NEXT = {
  name: "Correct the name or its package. apropos-search finds names by a part.",
  method: "Name one of these.",
  package: "Correct the name, or load the system that defines the package with load-system.",
  file: "Give the path of a file that exists, absolute or relative to the image's directory.",
  newFile: "To append to a new file, create it first, with its in-package form.",
  folder: "Give the path of a folder that exists, absolute or relative to the image's directory.",
  system: "Correct the name, or load the system with load-system.",
  test: "Correct the name, or load the system that defines the test with load-system.",
} as const;

/** What a caller can name that may not exist. */
export type Nameable = keyof typeof NEXT;

/** What the answer about a missing thing is written from. */
export interface Missing {
  readonly what: Nameable;
  /** The answer itself, and a block of similar names, if there are any. */
  readonly blocks: readonly string[];
  readonly meta: JsonObject;
}

/**
 * The answer about a thing that the caller named and that does not exist. It is an error, since the call was wrong, and says what to do next.
 * An answer that has found nothing is none.
 */
export function missingAnswer({ what, blocks: [text = "", ...hints], meta }: Missing, guide: ToolGuide): ToolAnswer {
  const hint = [...hints, guide.advise(NEXT[what])].filter((line) => line !== "").join("\n");
  return { blocks: [text, ...(hint === "" ? [] : [hint])], isError: true, meta };
}

/** What was asked for by a name. */
export interface AskedName {
  /** As the caller gave it. */
  readonly name: string;
  /** Names that are similar to it, if it was not found. */
  readonly similar: readonly string[];
}

/** The answer about a symbol or package that does not exist. @param key - The key of its facts in `_meta`. */
export function missingNameAnswer(
  found: NameNotFound,
  { name, similar }: AskedName,
  key: string,
  guide: ToolGuide,
): ToolAnswer {
  const what = found.status === "package-not-found" ? "package" : "name";
  const blocks = notFoundBlocks(found, name, similar);
  return missingAnswer({ what, blocks, meta: { [key]: notFoundData(found) } }, guide);
}

/** The answer about a file that does not exist. @param key - The key of its facts in `_meta`. */
export function missingFileAnswer(
  found: FileNotFound,
  key: string,
  guide: ToolGuide,
  what: Nameable = "file",
): ToolAnswer {
  return missingAnswer({ what, blocks: fileBlocks(found), meta: { [key]: { ...found } } }, guide);
}

const NO_FILES = { folder: "a folder", special: "a pipe or a device" } as const;

function fileBlocks({ file, similar, reason }: FileNotFound): string[] {
  if (reason !== undefined) return [`${fileName(file)} is ${NO_FILES[reason]}, not a file.`];
  const hint = similar.length === 0 ? [] : [`Similar files: ${similar.map((each) => fileName(each)).join(", ")}`];
  return [`The image has no file ${fileName(file)}`, ...hint];
}
