/** Strings, comments, characters and names in bars, in which a backslash may be meant. */
const QUOTED =
  /"(?:\\[\s\S]|[^"\\])*(?:"|$)|;[^\n]*|#\|[\s\S]*?(?:\|#|$)|#\\(?:[\w-]+|[\s\S])|\|(?:\\[\s\S]|[^|\\])*(?:\||$)/gu;

/** A line with a fence of Markdown at the beginning or the end of the code. */
const FENCE = /^\s*(?:```|~~~)|\n[ \t]*(?:```|~~~)\s*$/;

/** A backslash and a letter between tokens. */
const ESCAPED_BREAK = /(?<=[\s()]|^)\\[nt](?=[\s()\\]|$)/;

/** What shows that code was damaged on its way, and what to do about it. */
export interface CodeFault {
  readonly message: string;
  readonly remedy: string;
}

/**
 * The fault of code that was copied with the marks around it or escaped twice; `undefined` if there is none. Odd characters are found in the image,
 * whose readtable decides what they mean.
 */
export function codeFault(code: string): CodeFault | undefined {
  if (FENCE.test(code))
    return {
      message: "The code is in a Markdown fence. Nothing was run.",
      remedy: "Send the Lisp alone, without the lines that begin with ``` or ~~~.",
    };
  const bare = code.replace(QUOTED, (quoted) => quoted.replace(/[^\n]/g, " "));
  const found = ESCAPED_BREAK.exec(bare);
  if (found === null) return undefined;
  const before = bare.slice(0, found.index).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return {
    message: `The code has ${found[0]} in place of a line break or a tab at ${place}. Nothing was run.`,
    remedy: "It was escaped twice: send line breaks and tabs themselves.",
  };
}
