import type { types } from "swank-client";
import { EVERY_TOOL, type JsonObject, type ToolGuide } from "../base/answer.js";
import type { Stop } from "../session/lisp-port.js";
import { cutCall, cutName, cutText, fileName, firstTexts, groupedBy, more, oneLine } from "../text/cut.js";

const ENDS: Readonly<Record<string, string>> = { "(": ")", "#<": ">", "{": "}", "[": "]" };

/** The elements of a call after the function, as the call shows them: `(H (5 0) "a b")` has `(5 0)` and `"a b"`. */
export function argumentsOf(call: string): string[] {
  const elements: string[] = [];
  const open: string[] = [];
  let element = "";
  for (const token of call.slice(1, -1).match(/"(?:\\.|[^"\\])*"|\\.|#<|[\s\S]/g) ?? []) {
    if (open.length === 0 && /^\s$/.test(token)) {
      if (element !== "") elements.push(element);
      element = "";
      continue;
    }
    element += token;
    const end = ENDS[token];
    if (end !== undefined) open.push(end);
    else if (token === open.at(-1)) open.pop();
  }
  if (element !== "") elements.push(element);
  return elements.slice(1);
}

/** The variables of a frame without the arguments that its call shows whole. Each argument of the call stands for one variable. */
export function localsBesideCall<Local extends types.LocalBinding>(
  locals: readonly Local[],
  call: string,
): readonly Local[] {
  const shown = argumentsOf(call);
  return locals.filter(({ value, marks }) => {
    const position = marks.includes("argument") ? shown.indexOf(value) : -1;
    if (position >= 0) shown.splice(position, 1);
    return position < 0;
  });
}

const MAX_CALL = 300;

function frameLine(frame: types.FrameSummary): string {
  return `${frame.index}: ${cutCall(frame.call, MAX_CALL)}`;
}

/**
 * The frames that a report shows: those of user code. If there are none, as when a form calls a Lisp function that fails, the frames of
 * Lisp's machinery; if there are none either, all frames. An error thus always has a backtrace.
 */
export function relevantFrames(frames: readonly types.FrameSummary[]): readonly types.FrameSummary[] {
  for (const kind of ["user", "system"] as const) {
    const chosen = frames.filter((frame) => frame.kind === kind);
    if (chosen.length > 0) return chosen;
  }
  return frames;
}

/** The sentence that says from which package a report prints symbols; none if the agent works in that package. */
export function packageLine({ printedFrom }: Pick<types.ErrorSnapshot, "printedFrom">): string[] {
  return printedFrom === undefined ? [] : [`Symbols are printed from package ${cutName(printedFrom)}.`];
}

/** The line that names the source lines of frames, as in `1 queue.lisp:12, 2 :40`; a file is not repeated. None if none is known. */
export function sourceLine(frames: readonly types.FrameSummary[]): string[] {
  let last: string | undefined;
  const places = frames.flatMap(({ index, place }) => {
    if (place === undefined) return [];
    const file = place.file === last ? "" : fileName(place.file);
    last = place.file;
    return [`${index} ${file}:${place.line}`];
  });
  return places.length === 0 ? [] : [`Source lines of frames: ${places.join(", ")}`];
}

/** Most restarts in an answer: the innermost, and the outermost, which abort or retry the evaluation. */
const INNERMOST = 40;

const OUTERMOST = 5;

const MAX_DESCRIPTION = 200;

const MAX_RANGES = 20;

type Group = readonly [types.Restart, ...types.Restart[]];

/** A line for each restart, one for those with the same name and description, and one for the number left out. */
function restartLines(restarts: readonly types.Restart[]): string[] {
  const { first, left, last } = someOf(grouped(restarts, describedName));
  return [...first.map(restartLine), ...(left > 0 ? [`  ${more(left, "restart")}`] : []), ...last.map(restartLine)];
}

/** Restarts as data, and the number left out. Restarts count from 1, as in every answer; `also` has the numbers of those that look the same. */
export function restartsData(restarts: readonly types.Restart[]): JsonObject {
  const { first, left, last } = someOf(grouped(restarts, describedName));
  return { restarts: [...first, ...last].map(restartData), ...(left > 0 ? { restarts_left_out: left } : {}) };
}

export function restartNames(restarts: readonly types.Restart[]): string {
  const { first, left, last } = someOf(grouped(restarts, ({ name }) => name));
  return [...first.map(numbered), ...(left > 0 ? [more(left, "restart")] : []), ...last.map(numbered)].join(", ");
}

/** The numbers of restarts, from 1, in ascending order: `2-5, 7`. */
export function restartNumbers(restarts: readonly types.Restart[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const { index } of restarts) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === index) last.to = index + 1;
    else ranges.push({ from: index + 1, to: index + 1 });
  }
  const text = ({ from, to }: (typeof ranges)[number]) => (from === to ? String(from) : `${from}-${to}`);
  return firstTexts(ranges, MAX_RANGES, text, () => "...").join(", ");
}

function grouped(restarts: readonly types.Restart[], key: (restart: types.Restart) => string): readonly Group[] {
  return [...groupedBy(restarts, key).values()];
}

function describedName({ name, description }: types.Restart): string {
  return JSON.stringify([name, description]);
}

function someOf(groups: readonly Group[]) {
  if (groups.length <= INNERMOST + OUTERMOST) return { first: groups, left: 0, last: [] };
  return {
    first: groups.slice(0, INNERMOST),
    left: groups.slice(INNERMOST, -OUTERMOST).flat().length,
    last: groups.slice(-OUTERMOST),
  };
}

function restartLine([{ index, name, description }, ...others]: Group): string {
  const also = others.length === 0 ? "" : ` (also ${restartNumbers(others)})`;
  return `  ${index + 1}. ${shownName(name)} - ${oneLine(description, MAX_DESCRIPTION)}${also}`;
}

function restartData([{ index, name, description }, ...others]: Group): JsonObject {
  const also = others.length === 0 ? {} : { also: restartNumbers(others) };
  return { index: index + 1, name: cutName(name), description, ...also };
}

function numbered(group: Group): string {
  return `${restartNumbers(group)} ${shownName(group[0].name)}`;
}

function shownName(name: string): string {
  return name === "" ? "(unnamed)" : cutName(name);
}

const MAX_LOCALS = 10;

/** Most locals that a snapshot keeps. A frame with this many may have more. */
const KEPT_LOCALS = 20;

const MAX_LOCAL = 120;

const MAX_STOPPED_CALL = 80;

/** Most locals of the caller, and characters of each: they are shown only if they are short. */
const MAX_OF_CALLER = 5;

const MAX_IN_CALLER = 60;

/** The second block of a report: the live stop in a few lines. */
export function liveStopText(
  stop: Pick<types.StopData, "thread" | "level" | "locals" | "callerLocals"> & Partial<Pick<types.StopData, "detail">>,
  error: types.ErrorSnapshot,
  guide: ToolGuide = EVERY_TOOL,
): string {
  return [
    `Stopped, nothing unwound: thread ${stop.thread}/${stop.level}. Other evaluations can still run.`,
    ...openStepLines(stop.detail?.step, guide),
    ...(guide.offers("debugger_invoke_restart") ? ["Restarts:", ...restartLines(error.restarts)] : []),
    ...localLines(
      stop,
      error.frames.filter(({ kind }) => kind === "user"),
      guide,
    ),
  ].join("\n");
}

function openStepLines(mode: types.StepMode | undefined, guide: ToolGuide): string[] {
  if (mode === undefined) return [];
  const ways = guide.advise(
    "debugger_continue finishes it. debugger_step begins a new one from where the code is now.",
  );
  return [`The step (${mode}) has not ended. ${ways}`.trimEnd()];
}

function localLines(
  { locals, callerLocals = [] }: Pick<types.StopData, "locals" | "callerLocals">,
  [frame, caller]: readonly types.FrameSummary[],
  guide: ToolGuide,
): string[] {
  return [
    ...(frame === undefined || locals.length === 0 ? [] : [localsHeading(frame), ...ownLines(locals, guide)]),
    ...(caller === undefined ? [] : callerLines(callerLocals, caller)),
  ];
}

function localsHeading({ index, call }: types.FrameSummary): string {
  return `Locals of frame ${index}, ${cutCall(call, MAX_STOPPED_CALL)}:`;
}

/** The locals that the caller's call does not show, if they are short. */
function callerLines(locals: readonly types.LocalBinding[], caller: types.FrameSummary): string[] {
  const reference = `#<see frame ${caller.index}>`;
  const unsaid = localsBesideCall(locals, caller.call).filter(({ value }) => value !== reference);
  const areShort = unsaid.length <= MAX_OF_CALLER && unsaid.every(({ value }) => value.length <= MAX_IN_CALLER);
  return areShort && unsaid.length > 0 ? [localsHeading(caller), ...unsaid.map(localLine)] : [];
}

function ownLines(locals: readonly types.LocalBinding[], guide: ToolGuide): string[] {
  const left = locals.length - MAX_LOCALS;
  return [
    ...locals.slice(0, MAX_LOCALS).map(localLine),
    ...(left > 0 ? [`  ${locals.length < KEPT_LOCALS ? more(left, "local") : manyMore(guide)}`] : []),
  ];
}

function localLine({ name, value, marks }: types.LocalBinding): string {
  const note = marks.includes("shadowed") ? ` (${marks.join(", ")})` : "";
  return `  ${cutName(name)} = ${oneLine(value, MAX_LOCAL)}${note}`;
}

function manyMore(guide: ToolGuide): string {
  if (!guide.offers("debugger_frame_locals")) return "... more locals";
  return `... more locals: ${guide.nameOf("debugger_frame_locals")}`;
}

/** Most frames in a report (contract condition-report, "Backtrace Rules"). */
export const REPORT_FRAMES = 20;

export const KEPT_FRAMES = 200;

export function reportFrames(error: types.ErrorSnapshot): readonly types.FrameSummary[] {
  return relevantFrames(error.frames).slice(0, REPORT_FRAMES);
}

/** The `[Backtrace]` section of a report: at most 20 of the relevant frames; `""` if there are no frames. */
export function reportBacktrace(error: types.ErrorSnapshot, guide: ToolGuide): string {
  const relevant = relevantFrames(error.frames);
  if (relevant.length === 0) return "";
  const left = relevant.length - REPORT_FRAMES;
  return section(reportFrames(error), left > 0 ? `${more(left, "frame")}${whereAll(guide)}` : "");
}

function whereAll(guide: ToolGuide): string {
  return guide.offers("get-backtrace") ? `: ${guide.nameOf("get-backtrace")}` : "";
}

/** The answer of get-backtrace: the first `max` frames, including Lisp's own, and the number of frames left out. */
export function fullBacktrace(error: types.ErrorSnapshot, max: number): string {
  if (error.frames.length === 0) return `${error.type} left no frames: there is no stack to show.`;
  const shown = error.frames.slice(0, max);
  return section(shown, leftOut(shown.length, error));
}

function section(frames: readonly types.FrameSummary[], ending: string): string {
  return ["[Backtrace]", ...frames.map(frameLine), ...(ending === "" ? [] : [ending])].join("\n");
}

function leftOut(shown: number, error: types.ErrorSnapshot): string {
  const left = error.totalFrames - shown;
  if (left <= 0) return "";
  const kept = error.frames.length;
  if (shown < kept) return `${more(left, "frame")}: max-frames up to ${kept} shows them`;
  return `${more(left, "frame")}${kept < KEPT_FRAMES ? ", of the evaluator and Swank" : ", not kept"}`;
}

/** The answer of describe-last-error and get-backtrace when there is no last error (contract describe-last-error-tool). */
export const NO_ERROR = "No error information available.\n(No error has occurred since the last successful evaluation)";

const PREVIEW_FRAMES = 5;

/** The answer of describe-last-error (contract describe-last-error-tool, "Output Format"). */
export function lastErrorText(error: types.ErrorSnapshot, guide: ToolGuide = EVERY_TOOL): string {
  const hasMore = relevantFrames(error.frames).length > 0 && guide.offers("get-backtrace");
  const advice = hasMore ? [guide.advise("For full backtrace, use get-backtrace tool.")] : [];
  return [conditionText(error), ...advice].join("\n\n");
}

export function conditionText(error: types.ErrorSnapshot): string {
  return [heading(error), restartSection(error.restarts), ...previewSection(error)].join("\n\n");
}

export function heading(error: Pick<types.ErrorSnapshot, "type" | "message">): string {
  const message = cutText(error.message);
  return [`Error: ${cutName(error.type)}`, ...message.split("\n").map((line) => (line === "" ? "" : `  ${line}`))].join(
    "\n",
  );
}

function restartSection(restarts: readonly types.Restart[]): string {
  return ["Available Restarts:", ...(restarts.length === 0 ? ["  none"] : restartLines(restarts))].join("\n");
}

function previewSection(error: types.ErrorSnapshot): string[] {
  const frames = relevantFrames(error.frames).slice(0, PREVIEW_FRAMES);
  if (frames.length === 0) return [];
  const lines = frames.map((frame) => `  ${frameLine(frame)}`);
  return [[`Backtrace (top ${PREVIEW_FRAMES} frames):`, ...lines].join("\n")];
}

const MAX_PLACES = 10;

/** A stop as every answer names it, and as the argument `thread` takes it: `1/1`. */
export function placeName({ thread, level }: Pick<Stop, "thread" | "level">): string {
  return `${thread}/${level}`;
}

/** The last of some texts, after the number of those left out. */
export function lastPlaces(places: readonly string[]): string[] {
  const left = places.length - MAX_PLACES;
  return left > 0 ? [more(left, "stop"), ...places.slice(-MAX_PLACES)] : [...places];
}

/** The sentence that names the other stops after a thread has left its stop. */
export function nowStopped(stops: readonly Pick<Stop, "thread" | "level" | "condition">[]): string {
  if (stops.length === 0) return "No other thread of this session is stopped.";
  const places = stops.map((stop) => `${placeName(stop)} ${cutName(stop.condition.type)}`);
  return `Now stopped: ${lastPlaces(places).join(", ")}.`;
}

/** Most methods of one call, and characters of all arguments. */
const MAX_METHODS = 20;

const MAX_ARGUMENTS = 200;

const MAX_NAME = 300;

/** The methods that a call runs, in order. Whether a method calls the next one is not known. */
export function methodTexts(methods: readonly types.EffectiveMethod[]): string[] {
  const text = ({ name, isNext }: types.EffectiveMethod) =>
    `${cutName(name, MAX_NAME)}${isNext ? ", if call-next-method is called" : ""}`;
  return firstTexts(methods, MAX_METHODS, text, "method");
}

/** Lines that list the methods that a call of the symbol's generic function with `args` runs. */
export function methodLines({ name, meanings }: types.FoundSymbol, args: readonly string[]): string[] {
  if (args.length === 0) return [];
  const called = meanings.flatMap((meaning) => callOf(meaning));
  const known = called.filter(({ call }) => call.kind === "methods");
  if (called.length === 0) return [`No methods: ${cutName(name)} is not a generic function.`];
  return (known.length > 0 ? known : called.slice(0, 1)).flatMap(({ function: operator, call }) =>
    callLines(cutName(operator), cutName(args.join(" "), MAX_ARGUMENTS), call),
  );
}

function callOf(meaning: types.Meaning): { readonly function: string; readonly call: types.MethodsCalled }[] {
  return "call" in meaning && meaning.call !== undefined ? [{ function: meaning.name, call: meaning.call }] : [];
}

export function callLines(operator: string, args: string, call: types.MethodsCalled): string[] {
  if (call.kind === "unknown") return [`The methods that ${operator} runs are unknown: ${call.reason}`];
  if (call.methods.length === 0) return [`${operator} has no method for ${args}.`];
  return [
    `${operator} with arguments ${args} runs:`,
    ...methodTexts(call.methods).map((text, index) => `  ${index + 1}. ${text}`),
  ];
}
