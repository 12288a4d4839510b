import { code, GENERATED, prose, table } from "./markdown.mjs";

/** @typedef {Record<string, { meaning: string, remedy: string }>} ErrorTable */

/** The tables of error codes in the built packages, each with an introduction. */
const SECTIONS = [
  {
    title: "sexp-parser",
    about: "Codes of `SexpError` (text that cannot be read), `PrintError` and `DecodeError`.",
    module: "sexp-parser/dist/errors.js",
    export: "ERRORS",
  },
  {
    title: "swank-client",
    about: "Codes of `SwankError`, the only error type of `swank-client` and its subpaths.",
    module: "swank-client/dist/base/errors.js",
    export: "ERROR_CODES",
  },
  {
    title: "swank-mcp",
    about: "Codes of refused tool calls, besides those above: `data.type` of the error object.",
    module: "swank-mcp/dist/base/refusals.js",
    export: "REFUSALS",
  },
];

/**
 * Returns docs/errors.md: every error code, from the tables in the source. Needs the build.
 *
 * @returns {Promise<string>}
 */
export async function errorsPage() {
  const sections = await Promise.all(
    SECTIONS.map(async ({ title, about, module, export: name }) => {
      const exports = await import(`../../packages/${module}`);
      return errorsSection(title, about, exports[name]);
    }),
  );
  return [
    GENERATED,
    "# Error codes",
    "Each error has a code; each code has one meaning and one remedy.",
    ...sections,
  ].join("\n\n");
}

/**
 * @param {string} title
 * @param {string} about
 * @param {ErrorTable} errors
 */
export function errorsSection(title, about, errors) {
  const rows = Object.entries(errors).map(([name, { meaning, remedy }]) => [code(name), prose(meaning), prose(remedy)]);
  return [`## ${title}`, about, table(["code", "meaning", "remedy"], rows)].join("\n\n");
}
