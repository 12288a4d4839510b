import { checkIndex, checkOptions, checkText } from "../base/check-arguments.js";
import type { SourceMatches } from "../calls/found-lines.js";
import { searchSource as call } from "../calls/search-source.js";
import type { LispRunner } from "../lisp/lisp-runner.js";
import { LIMIT, SEARCH_OPTIONS, type SearchOptions } from "./code-options.js";

/** Searches the lines of source files. */
export async function searchSource(lisp: LispRunner, pattern: string, options: SearchOptions): Promise<SourceMatches> {
  checkOptions("searchSource", options, SEARCH_OPTIONS);
  checkText("pattern", pattern);
  const { regexp = false, system, folder, start = 0, limit = LIMIT, signal } = options;
  if (system !== undefined) checkText("system", system);
  if (folder !== undefined) checkText("folder", folder);
  checkIndex("start", start);
  checkIndex("limit", limit);
  return lisp.with({ signal }).run(call, { pattern, regexp, system, folder, start, limit });
}
