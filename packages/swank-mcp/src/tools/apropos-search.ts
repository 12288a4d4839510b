import type { types } from "swank-client";
import * as z from "zod";
import { answerWith, type JsonObject, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { misused } from "../base/refusals.js";
import { defineTool } from "../call/tool.js";
import { MAX_NAME, missingNameAnswer, similarNamesHint } from "../report/names.js";
import {
  cutName,
  cutText,
  expressionHint,
  firstTexts,
  howMany,
  oneLine,
  patternText,
  plural,
  shown,
} from "../text/cut.js";
import { oddCharacterHint } from "../text/visible.js";
import { patternRefusal } from "./search-source.js";

const NAMES_META = "swank-mcp/names";

const MAX_ARGLIST = 120;

const MAX_DOCUMENTATION = 100;

const MAX_PACKAGES = 10;

interface Search {
  readonly pattern: string;
  readonly regexp: boolean;
  readonly package: string | undefined;
  readonly kind: string | undefined;
  readonly external: boolean | undefined;
}

function foundNamesAnswer(
  found: types.FoundNames | types.PackageNotFound,
  search: Search,
  guide: ToolGuide,
): ToolAnswer {
  if (found.status === "package-not-found")
    return missingNameAnswer(found, { name: search.package ?? "", similar: [] }, NAMES_META, guide);
  const text = found.count === 0 ? noneText(found, search) : someText(found, search);
  return answerWith([cutText(text)], NAMES_META, namesData(found));
}

function noneText({ undefinedCount, filteredCount, similar }: types.FoundNames, search: Search): string {
  const { pattern, regexp } = search;
  return [
    pattern === ""
      ? `Package ${cutName(search.package ?? "")} has no names.`
      : `No name ${patternText(pattern, regexp)}.`,
    ...(filteredCount > 0 ? [`${howMany(filteredCount, "name")} ${otherwise(search)} ${does(filteredCount)}.`] : []),
    ...(undefinedCount > 0 ? [`${howMany(undefinedCount, "name")} without a definition ${does(undefinedCount)}.`] : []),
    ...similarNamesHint(similar),
    ...expressionHint(pattern, regexp),
    ...packageHint(pattern),
    ...oddCharacterHint(pattern, "pattern"),
  ].join("\n");
}

/** Names do not contain their packages. */
function packageHint(pattern: string): string[] {
  const [, home, name] = /^([^\s:]+)::?([^\s:]+)$/.exec(pattern) ?? [];
  return home === undefined || name === undefined
    ? []
    : [`A name is searched for without its package: pass pattern: ${shown(name)}, package: ${shown(home)}.`];
}

/** In what the names differ that are left out because of the arguments. */
function otherwise({ kind, external }: Search): string {
  if (external !== true) return "of another kind";
  return kind === undefined ? "not exported" : "of another kind, or not exported,";
}

function someText(found: types.FoundNames, search: Search): string {
  const { pattern, regexp } = search;
  const left = found.count - found.names.length;
  const what =
    pattern === "" ? `of package ${cutName(search.package ?? "")}` : patternText(pattern, regexp, found.count);
  const head = `${howMany(found.count, "name")} ${what}`;
  const homes = [...new Set(found.names.map(({ package: home }) => home))];
  const lists = homes.map((home) =>
    found.names
      .filter((name) => name.package === home)
      .map(nameLine)
      .join("\n"),
  );
  return [
    left > 0 ? `${head}; the first ${found.names.length}:` : `${head}:`,
    ...lists,
    ...leftOutLines(found, search),
  ].join("\n\n");
}

function does(count: number): string {
  return plural(count, "does", "do");
}

/** `NAME kind, kind ARGLIST: DOCUMENTATION` */
function nameLine({ name, kinds, arglist, documentation }: types.FoundName): string {
  const what = kinds.map((kind) => kind.replaceAll("-", " ")).join(", ");
  const parameters = arglist === undefined ? "" : ` ${oneLine(arglist, MAX_ARGLIST)}`;
  const about = documentation === undefined ? "" : `: ${oneLine(documentation, MAX_DOCUMENTATION)}`;
  return `${cutName(name, MAX_NAME)} ${what}${parameters}${about}`;
}

function leftOutLines({ leftOut, undefinedCount, filteredCount }: types.FoundNames, search: Search): string[] {
  const packageText = ({ package: home, count }: types.FoundNames["leftOut"][number]) => `${home} ${count}`;
  const counts = firstTexts(leftOut, MAX_PACKAGES, packageText, (left) => `${left} more packages`);
  const lines = [
    ...(counts.length > 0 ? [`Left out: ${counts.join(", ")}. Narrow the search with package, kind or external.`] : []),
    ...(filteredCount > 0
      ? [`Not shown: ${howMany(filteredCount, "name")} ${otherwise(search).replace(/,$/, "")}.`]
      : []),
    ...(undefinedCount > 0 ? [`Not shown: ${howMany(undefinedCount, "name")} without a definition.`] : []),
  ];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function namesData(found: types.FoundNames): JsonObject {
  return {
    status: found.status,
    count: found.count,
    names: found.names.map(({ name, package: home, access, kinds }) => ({ name, package: home, access, kinds })),
    left_out: found.leftOut,
    undefined: found.undefinedCount,
    filtered: found.filteredCount,
    similar: found.similar,
  };
}

const KINDS = [
  "function",
  "macro",
  "generic-function",
  "variable",
  "constant",
  "class",
  "structure",
  "condition",
  "type",
] as const;

const MAX_NAMES = 300;

export const aproposSearch = defineTool({
  name: "apropos-search",
  family: "code",
  needs: "completion",
  effect: "reads",
  title: "Search names",
  description:
    "Find a name of which you know a part: the names in the image that contain a text, or match a regular expression, by package, with kind, arglist and first line of documentation. Ignores case. Counts what it leaves out.",
  input: () =>
    z.strictObject({
      pattern: z.string().optional().describe("Part of a name, e.g. hash-table; none for all names of a package"),
      regexp: z.boolean().optional().describe("The pattern is a regular expression, e.g. ^make-.*stream$"),
      package: z.string().min(1).optional().describe("Only names of this package"),
      kind: z.enum(KINDS).optional().describe("Only names of this kind"),
      external: z.boolean().optional().describe("Only exported names"),
      limit: z.int().min(1).max(MAX_NAMES).optional().describe("Most names to show (default 50)"),
    }),
  async run({ pattern = "", regexp = false, package: packageName, kind, external, limit }, { session, signal, guide }) {
    if (pattern === "" && packageName === undefined)
      throw misused(
        "apropos-search",
        "Without a pattern, name a package.",
        "Pass a part of the names as pattern, or package for all of its names.",
      );
    const { client } = await session();
    const found = await client.code.apropos(pattern, { regexp, package: packageName, kind, external, limit, signal });
    if (found.status === "bad-pattern") throw patternRefusal("apropos-search", found.reason);
    return foundNamesAnswer(found, { pattern, regexp, package: packageName, kind, external }, guide);
  },
});
