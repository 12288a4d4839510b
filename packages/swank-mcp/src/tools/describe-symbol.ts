import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { types } from "swank-client";
import * as z from "zod";
import { defineTool } from "../call/tool.js";
import { placeLines, placesData, standardPlaces, syntaxPlaces } from "../report/hyperspec.js";
import { similarNames, symbolBlocks, symbolMeta } from "../report/names.js";

/** SBCL's manual as read by Info. */
interface Manual {
  readonly version: string;
  /** The sections that define a thing, by `KIND NAME`. */
  readonly sections: ReadonlyMap<string, readonly string[]>;
}

/** How the manual calls the kinds of definitions. */
const KINDS: Partial<Record<types.Meaning["kind"], readonly string[]>> = {
  function: ["Function"],
  "generic-function": ["Generic Function"],
  macro: ["Macro"],
  "special-operator": ["Special Operator"],
  variable: ["Variable"],
  constant: ["Constant", "Variable"],
  class: ["Class"],
  structure: ["Structure"],
  condition: ["Condition"],
  type: ["Type"],
};

function folders(): string[] {
  const own = (process.env["INFOPATH"] ?? "").split(":").filter((folder) => folder !== "");
  return [...own, "/usr/share/info", "/usr/local/share/info"];
}

/** The text of an Info file, compressed or not; `undefined` if there is none. */
async function infoText(path: string): Promise<string | undefined> {
  const plain = await readFile(path, "utf8").catch(() => undefined);
  if (plain !== undefined) return plain;
  const packed = await readFile(`${path}.gz`).catch(() => undefined);
  return packed === undefined ? undefined : (await promisify(gunzip)(packed)).toString("utf8");
}

/** A long manual has its text in `sbcl.info-1` and so on. */
async function manualText(folder: string): Promise<string | undefined> {
  const first = await infoText(join(folder, "sbcl.info"));
  if (first === undefined) return undefined;
  const parts = Array.from(first.matchAll(/^(sbcl\.info-\d+): \d+$/gm), ([, name = ""]) =>
    infoText(join(folder, name)),
  );
  return [first, ...(await Promise.all(parts))].join("");
}

function readManual(text: string): Manual | undefined {
  const [, version] = /This manual, for SBCL version (\S+),/.exec(text) ?? [];
  if (version === undefined) return undefined;
  const sections = new Map<string, string[]>();
  let section = "";
  for (const line of text.split("\n")) {
    section = /^File: sbcl\.info,\s+Node: ([^,]+),/.exec(line)?.[1] ?? section;
    const [, kind, name] = /^ -- ([A-Z][A-Za-z ]+): (\S+)/.exec(line) ?? [];
    if (kind === undefined || name === undefined) continue;
    const key = `${kind} ${name}`;
    const known = sections.get(key) ?? [];
    if (!known.includes(section)) sections.set(key, [...known, section]);
  }
  return { version, sections };
}

let found: Promise<Manual | undefined> | undefined;

async function findManual(): Promise<Manual | undefined> {
  for (const folder of folders()) {
    const text = await manualText(folder).catch(() => undefined);
    const manual = text === undefined ? undefined : readManual(text);
    if (manual !== undefined) return manual;
  }
  return undefined;
}

/** The line that names the section of SBCL's manual about an exported symbol of SBCL, if the manual is installed here and has exactly one. */
async function manualLines({ name, access, meanings }: types.FoundSymbol): Promise<string[]> {
  const [, symbol] = /^SB-[A-Z-]+::?(.+)$/.exec(name) ?? [];
  if (symbol === undefined || access !== "external") return [];
  found ??= findManual();
  const manual = await found;
  if (manual === undefined) return [];
  const own = meanings.filter((meaning) => meaning.name === name);
  const keys = own.flatMap(({ kind }) => KINDS[kind] ?? []).map((kind) => `${kind} ${symbol.toLowerCase()}`);
  const sections = [...new Set(keys.flatMap((key) => manual.sections.get(key) ?? []))];
  // the manual names no packages: one name can be that of different things
  return sections.length === 1 ? [`Manual of SBCL ${manual.version}: section "${sections[0]}"`] : [];
}

export const describeSymbol = defineTool({
  name: "describe-symbol",
  family: "core",
  needs: "describe",
  effect: "reads",
  title: "Describe symbol",
  description:
    "Get comprehensive information about a Lisp symbol: type, arglist, value, documentation, and source location. Names as code writes them, in any case: mapcar, my-app:run, :key, |Odd Name|; and ~R, #'.",
  input: () =>
    z.strictObject({
      name: z.string().min(1).describe("Symbol name to describe"),
      package: z.string().min(1).optional().describe("Package name (defaults to CL-USER)"),
      arguments: z
        .array(z.string())
        .optional()
        .describe("Lists the methods that a call runs. Literals, 'data, variables, (swank-objects:ref N), class names"),
    }),
  async run({ name, package: packageName, arguments: args = [] }, { session, signal, guide }) {
    const lisp = await session();
    const description = await lisp.client.describeSymbol(name, { package: packageName, args, signal });
    const places = description.status === "found" ? standardPlaces(description.name) : syntaxPlaces(name);
    const similar = places.length > 0 ? [] : await similarNames(lisp, name, description);
    const [text = "", ...hints] = symbolBlocks(description, name, { guide, similar, args });
    const manual = description.status === "found" ? await manualLines(description) : [];
    const more = [...placeLines(places), ...manual, ...hints].join("\n");
    return {
      blocks: more === "" ? [text] : [text, more],
      isError: false,
      meta: symbolMeta(description, placesData(places)),
    };
  },
});
