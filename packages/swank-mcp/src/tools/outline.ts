import type { types } from "swank-client";
import * as z from "zod";
import { answerWith, type JsonObject, type ToolAnswer, type ToolGuide } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { defineTool } from "../call/tool.js";
import { MAX_NAME, missingAnswer, missingFileAnswer, missingNameAnswer } from "../report/names.js";
import { cutName, cutText, fileName, firstTexts, groupedBy, howMany, oneLine, plural } from "../text/cut.js";
import { missingSystemBlocks } from "./search-source.js";

const OUTLINE_META = "swank-mcp/outline";

/** Longest first line of a form, and longest text about a file. */
const MAX_LINE = 110;

/** Operators of a file that are counted even if nothing says that they define something: those that are used so often. */
const OFTEN = 3;

const MAX_RELATED = 30;

function nextPage(start: number, shown: number, count: number): string[] {
  return start + shown < count ? [`${count - start - shown} more: pass start: ${start + shown}.`] : [];
}

function related(title: string, names: readonly string[]): string[] {
  const words = firstTexts(names, MAX_RELATED, cutName, "name");
  return names.length === 0 ? [] : [`${title}: ${words.join(", ")}`];
}

function about(text: string | undefined): string {
  return text === undefined ? "" : ` -- ${oneLine(text, MAX_LINE)}`;
}

function fileAnswer(outlined: types.OutlinedFile, start: number, guide: ToolGuide): ToolAnswer {
  if (outlined.status === "file-not-found") return missingFileAnswer(outlined, OUTLINE_META, guide);
  const name = fileName(outlined.file);
  if (outlined.status === "file-unreadable") {
    const text = `The image cannot read ${name}: it is too large, or may not be read.`;
    return answerWith([text], OUTLINE_META, outlined, true);
  }
  const { lines, forms, count, isWhole, changed } = outlined;
  const last = forms.at(-1)?.line ?? 1;
  const text = [
    `${name}, ${howMany(lines, "line")}${about(outlined.about)}`,
    ...(changed ? ["The file has changed since it was loaded."] : []),
    ...forms.map(({ line, depth, text: form }) => `${line} ${"  ".repeat(depth)}${oneLine(form, MAX_LINE)}`),
    ...nextPage(start, forms.length, count),
    ...(isWhole ? [] : [`What follows the form at line ${last} cannot be read.`]),
  ];
  return answerWith([cutText(text.join("\n"))], OUTLINE_META, fileData(outlined));
}

function fileData({ file, lines, count, isWhole, changed, forms }: types.FileOutline): JsonObject {
  return { file, lines, count, whole: isWhole, changed, forms: forms.map(({ line }) => line) };
}

function packageAnswer(
  outlined: types.PackageOutline | types.PackageNotFound,
  start: number,
  guide: ToolGuide,
): ToolAnswer {
  if (outlined.status === "package-not-found")
    return missingNameAnswer(outlined, { name: outlined.package, similar: [] }, OUTLINE_META, guide);
  const { name, nicknames, documentation, file, uses, usedBy, count, kinds, names } = outlined;
  const also = nicknames.length === 0 ? "" : ` (${nicknames.map((each) => cutName(each)).join(", ")})`;
  const place = file === undefined ? "" : `, defined in ${fileName(file)}`;
  const text = [
    `package ${cutName(name, MAX_NAME)}${also}${place}${about(documentation)}`,
    ...related("Uses", uses),
    ...related("Used by", usedBy),
    countsLine(outlined),
    ...namesLines(names, name),
    ...nextPage(start, names.length, count),
  ];
  return answerWith([cutText(text.join("\n"))], OUTLINE_META, { name, file, uses, usedBy, count, kinds });
}

function countsLine({ count, kinds }: types.PackageOutline): string {
  const counts = kinds.map(({ kind, count: number, exported }) => {
    const word = kind.replaceAll("-", " ");
    return `${number} ${plural(number, word, word.endsWith("s") ? `${word}es` : `${word}s`)} (${exported} exported)`;
  });
  return `${howMany(count, "name")}${counts.length === 0 ? "" : `: ${counts.join(", ")}`}`;
}

/** The names by access and first kind: those with a lambda list a line each, the others in one. */
function namesLines(names: readonly types.OutlinedName[], home: string): string[] {
  const groups = groupedBy(
    names,
    ({ access, kinds: [kind = ""] }) =>
      `${access === "external" ? "Exported" : "Internal"} ${kind.replaceAll("-", " ")}`,
  );
  return [...groups].flatMap(([key, group]) => {
    const plain = group.filter(({ arglist }) => arglist === undefined).map((each) => bareName(each.name, home));
    const called = group.flatMap(({ name, arglist }) =>
      arglist === undefined ? [] : [`  ${bareName(name, home)} ${oneLine(arglist, MAX_LINE)}`],
    );
    return [`${key}:${plain.length === 0 ? "" : ` ${plain.join(", ")}`}`, ...called];
  });
}

function bareName(name: string, home: string): string {
  const prefix = [`${home}::`, `${home}:`].find((each) => name.startsWith(each)) ?? "";
  return cutName(name.slice(prefix.length), MAX_NAME);
}

function systemAnswer(outlined: types.OutlinedSystem, start: number, guide: ToolGuide): ToolAnswer {
  if (outlined.status === "system-not-found") {
    const meta = { [OUTLINE_META]: outlined };
    return missingAnswer({ what: "system", blocks: missingSystemBlocks(outlined), meta }, guide);
  }
  const { name, version, description, isLoaded, definedIn, dependsOn, beside, count, files } = outlined;
  const facts = [
    `system ${cutName(name)}${version === undefined ? "" : ` ${cutName(version)}`}`,
    isLoaded ? "loaded" : "not loaded",
    ...(definedIn === undefined ? [] : [`defined in ${fileName(definedIn)}`]),
  ];
  const text = [
    `${facts.join(", ")}${about(description)}`,
    ...related("Depends on", dependsOn),
    ...related("Beside it", beside),
    filesLine(count),
    ...files.map(fileLine),
    ...nextPage(start, files.length, count),
    ...additionLines(outlined),
  ];
  return answerWith([cutText(text.join("\n"))], OUTLINE_META, systemData(outlined));
}

function filesLine(count: number): string {
  if (count === 0) return "No source files: ASDF knows none of it.";
  return count === 1 ? "1 file:" : `${count} files, in the order in which they are loaded:`;
}

function fileLine({ file, lines, about: said, operators }: types.SystemFile): string {
  if (lines === undefined) return `${fileName(file)}, which cannot be read`;
  const named = operators.filter(({ operator, count }) => operator.startsWith("def") || count >= OFTEN);
  const others = operators.filter((each) => !named.includes(each)).reduce((sum, { count }) => sum + count, 0);
  const counts = [
    ...named.map(({ operator, count }) => `${count} ${operator === "" ? "other" : cutName(operator)}`),
    ...(others > 0 ? [`${others} other ${plural(others, "form")}`] : []),
  ];
  return `${fileName(file)}, ${howMany(lines, "line")}: ${counts.join(", ")}${about(said)}`;
}

function additionLines({ added, additions, isLoaded }: types.SystemOutline): string[] {
  if (added === undefined) return [];
  if (!isLoaded && added === 0) return ["It is not loaded, so it is not known what it adds to others."];
  if (added === 0) return ["Its loaded code adds nothing to other systems."];
  const left = added - additions.length;
  return [
    `What its loaded code adds to others: ${added}`,
    ...additions.map(additionLine),
    ...(left > 0 ? [`... ${left} more; pass a higher limit.`] : []),
  ];
}

const WHAT = { method: "", definition: "", redefinition: "redefines " } as const;

function additionLine({ what, owner = "an unknown system", kind, name, file, line }: types.Addition): string {
  const place = file === undefined ? "" : `${[fileName(file), line].filter((part) => part !== undefined).join(":")} `;
  const kindWord = kind === "method" ? "" : `${kind.replaceAll("-", " ")} `;
  return `${place}${WHAT[what]}${kindWord}${cutName(name, MAX_NAME)}, of ${cutName(owner)}`;
}

function systemData(outlined: types.SystemOutline): JsonObject {
  const { name, isLoaded, dependsOn, beside, count, files, added, additions } = outlined;
  return {
    name,
    loaded: isLoaded,
    dependsOn,
    beside,
    count,
    files: files.map(({ file, lines }) => ({ file, lines })),
    added,
    additions: added === undefined ? undefined : additions.map(({ what, name: each }) => ({ what, name: each })),
  };
}

function misused(problem: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `outline: ${problem}`, {
    remedy: "Pass one of system, file and package; foreign belongs to a system, arglists to a package.",
  });
}

const MAX_ENTRIES = 500;

export const outline = defineTool({
  name: "outline",
  family: "code",
  needs: "runtime",
  effect: "reads",
  title: "Outline",
  description:
    "Find your way in unknown code: the files of a system in load order with what they define; the forms of a file with lines; or the names of a package by kind.",
  input: () =>
    z.strictObject({
      system: z.string().min(1).optional(),
      file: z.string().min(1).optional(),
      package: z.string().min(1).optional(),
      foreign: z.boolean().optional().describe("What the system adds to others: methods, redefinitions"),
      arglists: z.boolean().optional().describe("Of the names of the package"),
      start: z.int().min(0).optional(),
      limit: z.int().min(1).max(MAX_ENTRIES).optional().describe("Default 200"),
    }),
  async run({ system, file, package: home, foreign, arglists, start = 0, limit }, { session, signal, guide }) {
    if ([system, file, home].filter((each) => each !== undefined).length !== 1)
      throw misused("Give one of system, file and package.");
    if (foreign !== undefined && system === undefined) throw misused('"foreign" belongs to a system.');
    if (arglists !== undefined && home === undefined) throw misused('"arglists" belongs to a package.');
    const { code } = (await session()).client;
    const page = { start, limit, signal };
    if (file !== undefined) return fileAnswer(await code.outlineFile(file, page), start, guide);
    if (home !== undefined) return packageAnswer(await code.outlinePackage(home, { ...page, arglists }), start, guide);
    return systemAnswer(await code.outlineSystem(system ?? "", { ...page, foreign }), start, guide);
  },
});
