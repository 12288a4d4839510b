import { problemsOf } from "../checks/run-captured.mjs";

/** TypeDoc has its own node_modules because it does not support the TypeScript version that compiles the packages. */
const TYPEDOC = "../scripts/docs/api/node_modules/typedoc/bin/typedoc";

/**
 * Writes the API reference of sexp-parser and swank-client to dist/api.
 *
 * @returns {Promise<string[]>} TypeDoc's warnings: exported names without a docstring, broken links
 */
export function writeApiReference() {
  return problemsOf(TYPEDOC, ["--options", "scripts/docs/api/typedoc.json", "--treatWarningsAsErrors"]);
}
