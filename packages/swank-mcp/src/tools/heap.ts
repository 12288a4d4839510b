import type { types } from "swank-client";
import { growthCode } from "swank-client/internal";
import * as z from "zod";
import { answerWith, type ToolAnswer, type ToolGuide, textAnswer } from "../base/answer.js";
import type { Config } from "../base/config.js";
import { Refusal } from "../base/refusals.js";
import { answerAboutValue, answerPresented, idOrCode } from "../call/evaluate.js";
import { defineTool, type ToolContext, timeoutInput } from "../call/tool.js";
import type { Presenter } from "../session/agent.js";
import { bytesText, countText, cutText, groupedBy, more, oneLine, plural, timeText } from "../text/cut.js";

const MAX_TYPE = 90;

/** What looking has cost, and what may be missing. */
function lookLines({ collected, gc, walk, complete, used, size }: types.HeapLook): string[] {
  const collection = collected === "yes" ? `, after a full collection that paused all threads for ${timeText(gc)}` : "";
  return [
    `Heap: ${bytesText(used)} of ${bytesText(size)} in use. Walked for ${timeText(walk)}, while no garbage was collected${collection}.`,
    ...(collected === "no" ? ["Garbage counts, too: it was not collected first."] : []),
    ...(collected === "unsafe"
      ? ["Garbage counts, too: more than half of the heap is in use, and then a full collection could end SBCL."]
      : []),
    ...(complete
      ? []
      : ["Incomplete: the walk was given up after 5 s, or because the heap is nearly full, so objects are missing."]),
  ];
}

/** Types that include compiled code, or the functions in it. */
const CODE_TYPES = /(?<![\w-])(?:t|(?:compiled-)?function|(?:sb-kernel:+)?code-component)(?![\w-])/i;

/** Says that compiled code is not counted, where the type asked for includes some. */
function codeLines(type = "t"): string[] {
  return CODE_TYPES.test(type)
    ? ["Most compiled code is not counted, and of functions only closures and funcallable objects."]
    : [];
}

function typeLine({ name, count, bytes }: types.HeapType): string {
  return `${bytesText(bytes).padStart(10)}  ${countText(count).padStart(11)}  ${name}`;
}

const TYPE_HEADING = `${"bytes".padStart(10)}  ${"objects".padStart(11)}  type`;

const HEAP_META = "swank-mcp/heap";

const MAX_VALUE = 500;

function summaryAnswer(summary: types.HeapSummary, type: string | undefined, guide: ToolGuide): ToolAnswer {
  const { id, types, typeCount, objects, bytes } = summary;
  const left = typeCount - types.length;
  const text = [
    `${countText(objects)} ${plural(objects, "object")} of ${countText(typeCount)} ${plural(typeCount, "type")}, ${bytesText(bytes)}.`,
    ...lookLines(summary),
    ...codeLines(type),
    ...(types.length === 0
      ? []
      : [TYPE_HEADING, ...types.map((type) => typeLine({ ...type, name: oneLine(type.name, MAX_TYPE) }))]),
    ...(left > 0 ? [`${more(left, "type")}`] : []),
    ...(id === undefined ? [] : [guide.advise("heap with growth compares with this.")]),
  ].join("\n");
  return answerWith([cutText(text)], HEAP_META, summary);
}

/** The answer of heap about what has grown, and the values of the code that ran. */
function growthAnswer(growth: types.HeapGrowth, type: string | undefined, values: readonly string[] = []): ToolAnswer {
  const { types, typeCount, objects, bytes, ago } = growth;
  const left = typeCount - types.length;
  const text = [
    `${signed(objects, countText)} objects, ${signed(bytes, bytesText)} since the summary ${timeText(ago)} ago.`,
    ...values.map((value) => `=> ${oneLine(value, MAX_VALUE)}`),
    ...lookLines(growth),
    // without a type, the summary has said so
    ...(type === undefined ? [] : codeLines(type)),
    ...differenceLines(growth),
    ...(types.length === 0 ? [] : [TYPE_HEADING, ...types.map(growthLine)]),
    ...(left > 0 ? [more(left, "type")] : []),
  ].join("\n");
  return answerWith([cutText(text)], HEAP_META, { ...growth, values });
}

function differenceLines({ collected, collectedBefore }: types.HeapGrowth): string[] {
  return collected === collectedBefore
    ? []
    : ["The summary differs in whether garbage counts, so the figures say little."];
}

function growthLine({ name, count, bytes, countBefore }: types.HeapTypeGrowth): string {
  const columns = [signed(bytes, bytesText).padStart(10), signed(count, countText).padStart(11)].join("  ");
  return `${columns}  ${oneLine(name, MAX_TYPE)} (${countText(countBefore)} before)`;
}

function signed(difference: number, text: (amount: number) => string): string {
  return difference < 0 ? `-${text(-difference)}` : `+${text(difference)}`;
}

function instancesAnswer(found: types.HeapInstances, asked: number | undefined): ToolAnswer {
  const { type, count, bytes, types, large, every, instances } = found;
  const text = [
    `${countText(count)} ${plural(count, "object")} of type ${oneLine(type, MAX_TYPE)}, ${bytesText(bytes)}.`,
    ...lookLines(found),
    ...codeLines(type),
    ...(types.length > 1 ? [TYPE_HEADING, ...types.map(typeLine)] : []),
    ...(large === undefined ? [] : [largeText(large, asked)]),
    ...(instances.length === 0 || large !== undefined ? [] : [shownText(every)]),
    ...grouped(instances).map(instancesLine),
  ].join("\n");
  return answerWith([cutText(text)], HEAP_META, found);
}

function shownText(every: number): string {
  return every > 1 ? `Ids of one in ${countText(every)}, in the order of the heap:` : "Ids:";
}

function largeText(large: number, least = 0): string {
  const size = least === 0 ? "" : ` ${countText(large)} of at least ${bytesText(least)}.`;
  return `Ids, the largest first:${size}`;
}

/** The address in the text of an object that has nothing else of its own, or a string in the text. */
const ADDRESS = /"(?:[^"\\]|\\.)*"?| ?\{[0-9A-F]{6,16}\}(?=>)/gs;

function withoutAddresses(text: string): string {
  return text.replace(ADDRESS, (found) => (found.startsWith('"') ? found : ""));
}

/** Instances that are shown alike: equal in size and, but for addresses, in their texts. What the texts leave out may differ. */
function grouped(instances: readonly types.HeapInstance[]) {
  return [...groupedBy(instances, ({ bytes, text }) => `${bytes} ${withoutAddresses(text)}`).values()];
}

function instancesLine([first, ...others]: readonly [types.HeapInstance, ...types.HeapInstance[]]): string {
  const { id, bytes, text } = first;
  if (others.length === 0) return `id ${id}: ${text}  ; ${bytesText(bytes)}`;
  const ids = [id, ...others.map((other) => other.id)].join(" ");
  return `${others.length + 1} look alike, ids ${ids}: ${withoutAddresses(text)}  ; ${bytesText(bytes)} each`;
}

/** Steps shown before those that are left out. */
const FIRST_STEPS = 12;

const UNSEEN = "Stacks, registers and foreign memory are not searched";

function pathAnswer(path: types.HeapPath, guide: ToolGuide): ToolAnswer {
  const { objects, time, bytes } = path;
  const text = [
    heading(path),
    ...stepLines(path),
    ...(path.own ? [guide.advise("heap with release lets it go.")] : []),
    `Searched ${countText(objects)} objects in ${timeText(time)} without pausing the program; ${bytesText(bytes)} allocated meanwhile.`,
    ...(path.end === "found" ? [`Other references may exist. ${UNSEEN}.`] : []),
  ].join("\n");
  return answerWith([cutText(text)], HEAP_META, path);
}

function heading({ id, text, end, own }: types.HeapPath): string {
  const object = `${text} (id ${id})`;
  switch (end) {
    case "found":
      return own
        ? `Only this toolkit keeps ${object}: history variables (* ** *** /) and inspected objects of sessions. The program does not.`
        : `The shortest way from a root to ${object}:`;
    case "none":
      return `No variable, function, class or thread's binding leads to ${object}. ${UNSEEN}: a running function may keep it, or it is garbage that is not collected yet.`;
    case "time":
      return `Not found: the search for ${object} was given up after 15 s.`;
    case "size":
      return `Not found: the free memory does not suffice to search on for ${object}.`;
  }
}

function stepLines({ steps, left }: types.HeapPath): string[] {
  const lines = steps.map(({ name, id, expression, text }) => `${name}: ${text}  ; id ${id}, ${expression}`);
  if (left === 0) return lines;
  return [...lines.slice(0, FIRST_STEPS), more(left, "step"), ...lines.slice(FIRST_STEPS)];
}

const STOPPED = "The growth follows when the code returns; growth without code shows it up to now.";

/** Evaluates code between two looks at the heap, and answers with the difference when it has returned. */
async function growthOfCode(
  code: string,
  options: types.HeapSummaryOptions,
  seconds: number | undefined,
  context: ToolContext,
): Promise<ToolAnswer> {
  const session = await context.session();
  const run = await growthCode(session.client.lisp, code, options);
  const evaluated = {
    session,
    code: run.code,
    valuesAs: "data",
    onError: context.config.onError,
    policy: "keep",
  } as const;
  let isTold = false;
  const presenter: Presenter = {
    answer: async (value) =>
      growthAnswer(await run.growth({ signal: context.cancelled }), options.type, run.result(value)),
    unfinished(ending) {
      const mayReturn = ending.kind === "condition" && (ending.stop !== undefined || ending.thread !== undefined);
      const blocks = isTold || !mayReturn ? [] : [STOPPED];
      isTold = true;
      return Promise.resolve({ blocks });
    },
  };
  return answerPresented(evaluated, presenter, context, seconds);
}

const ARGUMENTS = {
  summary: ["type"],
  growth: ["type", "code", "timeout"],
  instances: ["type", "bytes"],
  path: ["object", "code"],
  release: ["object"],
} as const;

export const heap = defineTool({
  name: "heap",
  family: "runtime",
  needs: "runtime",
  effect: "evaluates",
  runsCode: ({ code, object }) => code !== undefined || (object !== undefined && typeof idOrCode(object) !== "number"),
  title: "Heap",
  description:
    "Find leaks: types by bytes, growth since the last summary or by code, instances of a type (bytes: largest, from that size), path: what keeps an object (id, code), release: drop what only this session keeps.",
  input: (config: Config) =>
    z.strictObject({
      mode: z.enum(["summary", "growth", "instances", "path", "release"]),
      type: z.string().optional(),
      object: z.union([z.int(), z.string()]).optional(),
      code: z.string().optional(),
      bytes: z.int().min(0).optional(),
      gc: z.boolean().optional().describe("Default true"),
      timeout: timeoutInput(config),
    }),
  async run({ mode, gc, ...given }, context) {
    checkArguments(mode, given);
    const { type, object, code, bytes, timeout } = given;
    if (mode === "path") return pathOf(object, code, context);
    if (mode === "release") return released(object, context);
    const options = { collect: gc, signal: context.signal };
    if (code !== undefined) return growthOfCode(code, { ...options, type }, timeout, context);
    const { program } = (await context.session()).client;
    if (mode === "summary") return summaryAnswer(await program.heap.summary({ ...options, type }), type, context.guide);
    if (mode === "growth") return growthAnswer(await program.heap.growth({ ...options, type }), type);
    if (type === undefined) throw misused("instances needs a type");
    return instancesAnswer(await program.heap.instances(type, { ...options, least: bytes }), bytes);
  },
});

async function pathOf(
  object: number | string | undefined,
  code: string | undefined,
  context: ToolContext,
): Promise<ToolAnswer> {
  if (object !== undefined && code !== undefined) throw misused("path takes an object or code, not both");
  const target = object === undefined ? code : idOrCode(object);
  if (target === undefined) throw misused("path needs an object");
  const { signal } = context;
  if (typeof target === "string") {
    return answerAboutValue(target, context, async (id, { client }) =>
      pathAnswer(await client.program.heap.path(id, { signal }), context.guide),
    );
  }
  const { program } = (await context.session()).client;
  return pathAnswer(await program.heap.path(target, { signal }), context.guide);
}

/** Lets go of an object, or of all, that only ids and history variables of this session keep. */
async function released(object: number | string | undefined, context: ToolContext): Promise<ToolAnswer> {
  const id = object === undefined ? undefined : idOrCode(object);
  if (typeof id === "string") throw misused("release takes an id, not code");
  const { program } = (await context.session()).client;
  if (id !== undefined) {
    const wasKept = await program.releaseObject(id);
    return textAnswer(wasKept ? `; Object ${id} let go. ${STILL_VALID}` : `; This session did not keep object ${id}.`);
  }
  const count = await program.releaseObjects();
  if (count === 0) return textAnswer("; This session kept no object.");
  return textAnswer(`; ${countText(count)} ${plural(count, "object")} let go. ${STILL_VALID}`);
}

const STILL_VALID = "Ids stay valid while the program keeps their objects.";

function checkArguments(mode: keyof typeof ARGUMENTS, given: Readonly<Record<string, unknown>>): void {
  const taken: readonly string[] = ARGUMENTS[mode];
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !taken.includes(name)) throw misused(`${mode} takes no ${name}`);
  }
}

function misused(problem: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `heap: ${problem}.`, {
    remedy: "summary takes type, growth type or code, instances type and bytes, path object or code, release object.",
  });
}
