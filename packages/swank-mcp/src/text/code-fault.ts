import { bareCode } from "swank-client/internal";

/** A line with a fence of Markdown at the beginning or the end of the code. */
const FENCE = /^\s*(?:```|~~~)|\n[ \t]*(?:```|~~~)\s*$/;

/** A backslash and an n after a form, or between two. After an opening parenthesis, it may be a symbol. */
const ESCAPED_BREAK = /(?<=[\s)]|^)\\n(?=[\s()\\]|$)/;

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
  // Code that was escaped twice has no line break of its own.
  if (code.includes("\n") || !code.includes("\\n")) return undefined;
  const found = ESCAPED_BREAK.exec(bareCode(code, true));
  if (found === null) return undefined;
  return {
    message: `The code has \\n in place of a line break at column ${found.index + 1}. Nothing was run.`,
    remedy: "It was escaped twice: send line breaks themselves.",
  };
}
