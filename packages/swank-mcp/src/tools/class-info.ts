import type { types } from "swank-client";
import * as z from "zod";
import type { JsonObject, ToolAnswer, ToolGuide } from "../base/answer.js";
import { misused, type Refusal } from "../base/refusals.js";
import { defineTool } from "../call/tool.js";
import {
  definitionLine,
  MAX_NAME,
  missingAnswer,
  missingNameAnswer,
  similarNames,
  similarNamesHint,
} from "../report/names.js";
import { callLines } from "../report/stop.js";
import { cutName, cutText, more, plural } from "../text/cut.js";

const CLASS_META = "swank-mcp/class";

const MAX_ARGUMENTS = 200;

const NO_SYSTEMS = "Systems are not shown: ASDF may need the compiler's lock, which another thread holds.";

interface Asked {
  readonly name: string;
  readonly args: readonly string[];
  /** Names that are similar to one that was not found, or has no definition. */
  readonly similar: readonly string[];
}

function classInfoAnswer(info: types.ClassInfo, asked: Asked, guide: ToolGuide): ToolAnswer {
  if (info.status !== "found") return missingNameAnswer(info, asked, CLASS_META, guide);
  const meta = { [CLASS_META]: classData(info) };
  const text = cutText(infoText(info, asked.args));
  if (!namesNothing(info)) return { blocks: [text], isError: false, meta };
  return missingAnswer({ what: "name", blocks: [text, ...similarNamesHint(asked.similar)], meta }, guide);
}

/** Whether the symbol of a name exists, but nothing is defined by that name. */
function namesNothing(info: types.ClassInfo): boolean {
  return info.status === "found" && info.class === undefined && info.function === undefined && info.kinds.length === 0;
}

function infoText(info: types.FoundClass, args: readonly string[]): string {
  const { name, class: described, function: generic, kinds } = info;
  const parts = [
    ...(described === undefined ? [] : [classText(name, described)]),
    ...(generic === undefined ? [] : [functionText(generic, args)]),
  ];
  if (parts.length > 0) return [...parts, ...(info.areSystemsKnown ? [] : [NO_SYSTEMS])].join("\n\n");
  const other = kinds.length === 0 ? "" : ` It is: ${kinds.map((kind) => kind.replaceAll("-", " ")).join(", ")}.`;
  return `${cutName(name, MAX_NAME)} is neither a class nor a generic function.${other}`;
}

function classText(name: string, described: types.ClassDescription): string {
  const { kind, metaclass, place, slots, slotCount } = described;
  const meta = kind === "class" && metaclass !== "STANDARD-CLASS" ? `, metaclass ${metaclass}` : "";
  return [
    `${kind.replace("-class", " class")} ${cutName(name, MAX_NAME)}${meta}`,
    placeLine(place),
    ...namesLine("Not defined yet", described.undefinedClasses),
    ...namesLine("Precedence", described.precedence),
    ...namesLine("Superclasses", described.superclasses),
    ...namesLine("Subclasses", described.subclasses),
    ...(slots.length === 0
      ? ["No slots"]
      : ["Slots:", ...slots.map(slotLine), ...rest(slotCount - slots.length, "slot")]),
    ...methodsLines(described.methods, "on the class"),
  ].join("\n");
}

function functionText(
  { name, arglist, combination, place, methods, call }: types.FunctionDescription,
  args: readonly string[],
) {
  return [
    `generic function ${cutName(name, MAX_NAME)} ${arglist ?? ""}`.trimEnd(),
    ...(combination === undefined ? [] : [`Method combination: ${combination}`]),
    placeLine(place),
    ...methodsLines(methods, ""),
    ...(call === undefined ? [] : callLines(cutName(name), cutName(args.join(" "), MAX_ARGUMENTS), call)),
  ].join("\n");
}

function placeLine(place: types.LocatedDefinition): string {
  return definitionLine(place, systemFacts(place));
}

function slotLine({ name, from, type, initform, initargs, readers, writers, isShared }: types.SlotDescription): string {
  const accessors = readers.filter((reader) => writers.includes(`(SETF ${reader})`));
  const plain = readers.filter((reader) => !accessors.includes(reader));
  const setters = writers.filter((writer) => !accessors.some((reader) => writer === `(SETF ${reader})`));
  const facts = [
    ...(type === undefined ? [] : [`type ${type}`]),
    ...(initform === undefined ? [] : [`initform ${initform}`]),
    ...fact("initarg", initargs),
    ...fact("accessor", accessors),
    ...fact("reader", plain),
    ...fact("writer", setters),
    ...(isShared ? ["shared by all instances"] : []),
    ...(from === undefined ? [] : [`from ${from}`]),
  ];
  return `  ${[name, ...facts].join(", ")}`;
}

function fact(word: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${word} ${values.join(" ")}`];
}

function methodsLines({ methods, count, lispCount }: types.MethodList, where: string): string[] {
  const own = lispCount === 0 ? "" : ` (and ${lispCount} of Lisp itself)`;
  const heading = `${count === 0 ? "No" : count} ${plural(count, "method")} ${where}`.trimEnd() + own;
  if (count === 0) return [heading];
  return [`${heading}:`, ...methods.map(methodLine), ...rest(count - methods.length, "method")];
}

function methodLine(method: types.LocatedMethod): string {
  const foreign = method.foreignClasses.map(({ name, system }) => `${name} is of system ${system}`);
  return `  ${definitionLine(method, [...systemFacts(method), ...foreign])}`;
}

function systemFacts({ system }: types.LocatedDefinition): string[] {
  return system === undefined ? [] : [`system ${system}`];
}

function namesLine(heading: string, { names, count }: types.ClassNames): string[] {
  if (count === 0) return [];
  const left = count - names.length;
  return [`${heading}: ${names.map((name) => cutName(name)).join(", ")}${left > 0 ? `, ${more(left, "name")}` : ""}`];
}

function rest(left: number, what: string): string[] {
  return left > 0 ? [`  ${more(left, what)}`] : [];
}

function classData({ status, name, class: described, function: generic }: types.FoundClass): JsonObject {
  return {
    status,
    name,
    class:
      described === undefined
        ? undefined
        : { precedence: described.precedence.names, ...methodsData(described.methods) },
    function: generic === undefined ? undefined : methodsData(generic.methods),
  };
}

function methodsData({ methods, count, lispCount }: types.MethodList): JsonObject {
  return {
    methods: methods.map(({ name, file, line, column, system }) => ({ name, file, line, column, system })),
    count,
    lisp_count: lispCount,
  };
}

export const classInfo = defineTool({
  name: "class-info",
  family: "code",
  needs: "runtime",
  effect: "reads",
  title: "Class info",
  description:
    "Understand a class or generic function: precedence, slots with accessors, types and initforms, super- and subclasses, and the methods with file and system; with arguments, the order in which they run.",
  input: () =>
    z.strictObject({
      name: z.string().min(1).describe("A class, or a generic function such as (setf size)"),
      package: z.string().min(1).optional().describe("Package of the name (default: the current one)"),
      arguments: z
        .array(z.string())
        .optional()
        .describe("Of a call of the function: literals, 'data, variables, class names"),
    }),
  async run({ name, package: packageName, arguments: args = [] }, { session, signal, guide }) {
    const lisp = await session();
    const { client } = lisp;
    const info = await client.code.classInfo(name, { package: packageName, args, signal });
    if (args.length > 0 && info.status === "found" && info.function === undefined && !namesNothing(info))
      throw notGeneric(info.name);
    const similar = await similarNames(lisp, name, info, namesNothing(info), packageName);
    return classInfoAnswer(info, { name, args, similar }, guide);
  },
});

function notGeneric(name: string): Refusal {
  const shown = cutName(name);
  const remedy = `Call again with the name of a generic function, or describe ${shown} without arguments.`;
  return misused("class-info", `${shown} is not a generic function, so it takes no arguments.`, remedy);
}
