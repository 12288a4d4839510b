/**
 * Characters that a person would not see, or that change the order of others: control, format, unassigned and private characters, every
 * separator but the space and the line break, and letters and signs that fonts leave blank.
 */
const UNSEEN = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}\u{303F}\u{FFFC}\u{16FE4}\u{1D159}]/gu;

/** Marks that stand on no letter, enclose one, or pile up: they can cover the text around them. */
const COVERING = /(?<![\p{L}\p{N}\p{M}])\p{M}+|(?<=\p{M}\p{M})\p{M}|\p{Me}/gu;

/** So many blanks in a row could push what follows out of sight. */
const MANY_SPACES = / {33,}/g;
const MANY_BLANK_LINES = /\n(?: *\n){3,}/g;

/** What a tab at the beginning of a line indents by. */
const TAB = " ".repeat(8);

/** Text on one line, every character of it in plain sight. */
export function seenLine(text: string): string {
  return written(text).trim().replaceAll("\n", "\\u{a}");
}

/** Text with its line breaks, every character of it in plain sight; long stretches of nothing are counted instead. */
export function seenText(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  const indented = lines.replace(/^\t+/gm, (tabs) => TAB.repeat(tabs.length));
  return written(indented)
    .trim()
    .replace(MANY_BLANK_LINES, (run) => `\n[... ${run.split("\n").length - 2} blank lines]\n`);
}

/** Spells out before the caller trims: what `trim` takes for white space, Lisp may read as code. */
function written(text: string): string {
  return text
    .replace(UNSEEN, spelledOut)
    .replace(COVERING, (marks) => [...marks].map(spelledOut).join(""))
    .replace(MANY_SPACES, (spaces) => `[... ${spaces.length} spaces]`);
}

function spelledOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
