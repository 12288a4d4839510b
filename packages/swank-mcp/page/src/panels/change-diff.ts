import { diffArrays } from "diff";
import type { Change } from "./data.js";

/** A line of a diff; `null` in place of a number where the text has no such line. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** Unchanged lines that are left out. */
export interface DiffGap {
  readonly kind: "gap";
  readonly lines: number;
}

/** Unchanged lines that are shown before and after changed ones. */
const CONTEXT = 3;

/** Most lines that are removed and added together; texts that differ more are shown as removed and added as a whole. */
const MOST_EDITS = 1000;

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split(/\r?\n/);
}

/** The lines of both texts. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const parts = diffArrays(old, now, { maxEditLength: MOST_EDITS }) ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ];
  const place = { before: 0, after: 0 };
  return parts.flatMap(({ value, added, removed }) =>
    value.map((text): DiffLine => {
      if (!added) place.before += 1;
      if (!removed) place.after += 1;
      return {
        kind: added ? "added" : removed ? "removed" : "same",
        text,
        before: added ? null : place.before,
        after: removed ? null : place.after,
      };
    }),
  );
}

/** The lines without those that are far from a changed one. */
export function withGaps(lines: readonly DiffLine[]): (DiffLine | DiffGap)[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== "same"),
  );
  const shown: (DiffLine | DiffGap)[] = [];
  let left = 0;
  const close = () => {
    if (left > 0) shown.push({ kind: "gap", lines: left });
    left = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (isNear[index] === true) {
      close();
      shown.push(line);
    } else left += 1;
  }
  close();
  return shown;
}

/** What the diff of a change goes from and to. */
export interface ChangeTexts {
  readonly before: string;
  readonly after: string;
  /** What the removed and the added lines are. */
  readonly names: readonly [before: string, after: string];
}

/** The two texts of a change, or `undefined` if the one that matters is not known. */
export function textsOf({ state, text, fileText }: Change): ChangeTexts | undefined {
  if (state === "differs" || state === "conflict") {
    if (text === undefined || fileText === undefined) return undefined;
    return { before: fileText, after: text, names: ["in the file", "in the image"] };
  }
  if (state === "image-only" && text !== undefined) {
    return { before: "", after: text, names: ["in the file", "in the image"] };
  }
  if (state === "changed" || state === "new") {
    if (fileText === undefined || (state === "changed" && text === undefined)) return undefined;
    return { before: state === "new" ? "" : (text ?? ""), after: fileText, names: ["loaded", "in the file now"] };
  }
  if (state === "deleted" && text !== undefined) {
    return { before: text, after: "", names: ["loaded", "in the file now"] };
  }
  if (state === "file-only" && fileText !== undefined) {
    return { before: fileText, after: "", names: ["in the file", "in the image"] };
  }
  return undefined;
}

/** What identifies the definition of a change. */
export function changeKey({ kind, name, file }: Change): string {
  return [kind ?? "form", name, file ?? ""].join("\n");
}

/** A number for the state and texts of a change, so that a later one can be told apart. */
export function changeHash({ state, text, fileText }: Change): number {
  let hash = 5381;
  for (const letter of [state, text ?? "", fileText ?? ""].join("\0")) {
    hash = (Math.imul(hash, 33) ^ (letter.codePointAt(0) ?? 0)) >>> 0;
  }
  return hash;
}

/** The hashes of definitions that a person has seen, by their keys. */
export type Seen = Readonly<Record<string, number>>;

/** All changes as seen. */
export function seenOf(changes: readonly Change[]): Seen {
  return Object.fromEntries(changes.map((change) => [changeKey(change), changeHash(change)]));
}

/** The keys of the changes that are not as they were seen; none if nothing was ever seen. */
export function newKeys(changes: readonly Change[], seen: Seen | undefined): Set<string> {
  if (seen === undefined) return new Set();
  return new Set(changes.filter((each) => seen[changeKey(each)] !== changeHash(each)).map(changeKey));
}

/** The kept text of what was seen; `undefined` if it is none. */
export function readSeen(text: string | null): Seen | undefined {
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
    );
  } catch {
    return undefined;
  }
}
