/** A file longer than this says more than one thing. */
export const MOST_LINES = 300;

/** The one file that may vouch for what the compiler cannot see, and so may switch a check off. */
export const AUDITED = "packages/sexp-parser/src/decode/assemble.ts";

/** Words that may not stand in a source file, and what to do instead. */
const FORBIDDEN = [
  { pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/, instead: "do it now, or file an issue", except: "" },
  {
    pattern: /@ts-(?:ignore|nocheck|expect-error)\b|\bbiome-ignore|\beslint-disable/,
    instead: "mend what the check complains about",
    except: AUDITED,
  },
];

/**
 * What is wrong with a source file whatever its language: too long, unfinished by its own word, or a check switched off.
 *
 * @param {string} path
 * @param {string} text
 * @returns {string[]} a sentence for each
 */
export function textProblems(path, text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const tooLong =
    lines.length > MOST_LINES
      ? [`${path}: ${lines.length} lines; the most is ${MOST_LINES}. Split it by what it says.`]
      : [];
  const forbidden = lines.flatMap((line, index) =>
    FORBIDDEN.flatMap(({ pattern, instead, except }) => {
      const found = pattern.exec(line);
      return found === null || path === except ? [] : [`${path}:${index + 1}: "${found[0]}": ${instead}.`];
    }),
  );
  return [...tooLong, ...forbidden];
}
