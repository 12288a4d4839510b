/** Where a snippet is in a text. */
export interface SnippetMatch {
  readonly offset: number;
  /** The number of the snippet's code units that are there. */
  readonly length: number;
}

/** A text with A to Z in lower case, so that offsets stay the same. Emacs ignores case, and Swank writes some names in upper case. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The place of the longest beginning of a snippet, before or after `start`; of two equally long ones, the nearer (slime.el, `slime-isearch`).
 *
 * @returns undefined if not even the first character of the snippet is in the text.
 */
export function findSnippet(text: string, snippet: string, start: number): SnippetMatch | undefined {
  if (snippet === "") return undefined;
  if (text.startsWith(snippet, start)) return { offset: start, length: snippet.length };
  const searched = folded(text);
  const wanted = folded(snippet);
  const after = longest(wanted, start, (part, from) => searched.indexOf(part, from));
  // lastIndexOf takes negative places for 0
  const before = longest(wanted, start - 1, (part, from) => (from < 0 ? -1 : searched.lastIndexOf(part, from)));
  return better(start, after, before);
}

/** Searches for ever longer beginnings, each from the place of the one before. */
function longest(
  snippet: string,
  start: number,
  search: (part: string, from: number) => number,
): SnippetMatch | undefined {
  let offset = start;
  let length = 0;
  while (length < snippet.length) {
    const found = search(snippet.slice(0, length + 1), offset);
    if (found < 0) break;
    offset = found;
    length += 1;
  }
  return length === 0 ? undefined : { offset, length };
}

/** The longer match, or the one nearer to `start`. */
function better(
  start: number,
  one: SnippetMatch | undefined,
  other: SnippetMatch | undefined,
): SnippetMatch | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.length !== other.length) return one.length > other.length ? one : other;
  return Math.abs(one.offset - start) <= Math.abs(other.offset - start) ? one : other;
}
