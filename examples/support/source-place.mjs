// Lines and columns of the places that Swank gives for compiler notes, definitions and uses.
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { positionAt } from "sexp-parser";

/** @typedef {typeof import("swank-client").calls} Calls */
/** @typedef {ReturnType<Calls["findSourceLocationForEmacs"]["decode"]>} SourceLocation */
/** @typedef {{ file: string, line: number, column: number }} SourcePlace */

/** @type {Map<string, Promise<string>>} */
const texts = new Map();

/** The text of a file, which is read once. @param {string} path */
function textOf(path) {
  const text = texts.get(path) ?? readFile(path, "utf8");
  texts.set(path, text);
  return text;
}

/**
 * The place in a file, with columns from 1; line 1 if only the file is known, `undefined` without a file.
 *
 * @param {SourceLocation} location
 * @returns {Promise<SourcePlace | undefined>}
 */
export async function placeOf(location) {
  if (location.status === "unknown" || location.place.kind !== "file") return undefined;
  const { place, position } = location;
  if (position.kind === "line") return { file: place.path, line: position.line, column: (position.column ?? 0) + 1 };
  if (position.kind !== "offset") return { file: place.path, line: 1, column: 1 };
  const { line, column } = await positionIn(place.path, position.offset);
  return { file: place.path, line, column };
}

/** Lisp counts characters from 1; JavaScript counts characters beyond U+FFFF twice. @param {string} path @param {number} offset */
async function positionIn(path, offset) {
  const text = await textOf(path).catch(() => "");
  const before = Array.from(text).slice(0, offset - 1);
  return positionAt(text, before.join("").length);
}

/** `file:line:column`, from the current folder. @param {SourcePlace} place */
export function placeText({ file, line, column }) {
  return `${relative("", file)}:${line}:${column}`;
}
