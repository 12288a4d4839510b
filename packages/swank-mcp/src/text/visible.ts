/**
 * Characters that are invisible or reorder others: control, format, unassigned and private characters, every separator except the
 * space and the line break, and letters and signs that fonts leave blank.
 */
const INVISIBLE = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}\u{303F}\u{FFFC}\u{16FE4}\u{1D159}]/gu;

/** Combining marks without a letter, around a letter, or in piles: they can cover the text around them. */
const COVERING = /(?<![\p{L}\p{N}\p{M}])\p{M}+|(?<=\p{M}\p{M})\p{M}|\p{Me}/gu;

/** Runs of blanks long enough to push the text after them out of sight. */
const MANY_SPACES = / {33,}/g;

const MANY_BLANK_LINES = /\n(?: *\n){3,}/g;

const TAB = " ".repeat(8);

/** Text on one line, with every character visible. */
export function visibleLine(text: string): string {
  return escaped(text).trim().replaceAll("\n", "\\u{a}");
}

/** Text with its line breaks and every character visible. A long run of blanks is replaced by its length. */
export function visibleText(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  const indented = lines.replace(/^\t+/gm, (tabs) => TAB.repeat(tabs.length));
  return escaped(indented)
    .trim()
    .replace(MANY_BLANK_LINES, (run) => `\n[... ${run.split("\n").length - 2} blank lines]\n`);
}

/** Escapes invisible characters. Call it before `trim`, which removes characters that Lisp may read as code. */
function escaped(text: string): string {
  return text
    .replace(INVISIBLE, escapeCharacter)
    .replace(COVERING, (marks) => [...marks].map(escapeCharacter).join(""))
    .replace(MANY_SPACES, (spaces) => `[... ${spaces.length} spaces]`);
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Format characters, line and paragraph separators, curly quotation marks, wide forms of ASCII, and all spaces but the usual one. */
const ODD = /[\p{Cf}\p{Zl}\p{Zp}\p{Pi}\p{Pf}\uff01-\uff5e]|(?! )\p{Zs}/u;

/** The sentence about a character, in a name or pattern without a match, that readers do not see or take for another one; none if there is none. */
export function oddCharacterHint(text: string, what = "name"): string[] {
  const code = ODD.exec(text)?.[0].codePointAt(0);
  if (code === undefined) return [];
  const written = code.toString(16).toUpperCase().padStart(4, "0");
  return [`The ${what} contains U+${written}, which is invisible or looks like another character.`];
}
