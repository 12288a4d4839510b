import type { PageCall } from "../../src/page/model.js";

/** How calls have ended, as the filter names it. */
export const OUTCOMES = ["running", "ok", "error", "stopped"] as const;

export type Outcome = (typeof OUTCOMES)[number];

/** Which calls are shown. An empty text stands for all. */
export interface TimelineFilter {
  readonly agent: string;
  readonly tool: string;
  readonly outcome: Outcome | "";
  readonly text: string;
}

export const NO_FILTER: TimelineFilter = { agent: "", tool: "", outcome: "", text: "" };

export function outcomeOf(call: PageCall): Outcome {
  if (call.stop !== undefined || call.outcome === "stopped") return "stopped";
  if (call.ended === undefined) return "running";
  return call.isError === true || call.outcome === "aborted" ? "error" : "ok";
}

/** Whether time passes for a call: it has not ended, and its thread is not stopped. */
export function isRunning(call: PageCall): boolean {
  return outcomeOf(call) === "running";
}

/** How a call has ended, or what it does, in a word or two. */
export function outcomeWord(call: PageCall): string {
  return call.waits === true ? "waits (paused)" : (call.outcome ?? outcomeOf(call));
}

export function isFiltering({ agent, tool, outcome, text }: TimelineFilter): boolean {
  return [agent, tool, outcome, text.trim()].some((value) => value !== "");
}

/** The calls that pass a filter, which is remembered for each call, because most stay as they are. */
export class FilteredCalls {
  filter: TimelineFilter = NO_FILTER;
  #known = new WeakMap<PageCall, boolean>();

  set(change: Partial<TimelineFilter>): void {
    this.filter = { ...this.filter, ...change };
    this.#known = new WeakMap();
  }

  of(calls: readonly PageCall[]): readonly PageCall[] {
    return isFiltering(this.filter) ? calls.filter((call) => this.#passes(call)) : calls;
  }

  #passes(call: PageCall): boolean {
    const known = this.#known.get(call);
    if (known !== undefined) return known;
    const passes = passesFilter(call, this.filter);
    this.#known.set(call, passes);
    return passes;
  }
}

function passesFilter(call: PageCall, { agent, tool, outcome, text }: TimelineFilter): boolean {
  if ((agent !== "" && call.agent !== agent) || (tool !== "" && call.tool !== tool)) return false;
  if (outcome !== "" && outcomeOf(call) !== outcome) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const whole = [call.tool, call.code, call.output, call.summary, call.outcome].join("\n").toLowerCase();
  return words.every((word) => whole.includes(word));
}

/** Most rows that are shown at once. */
export const MOST_ROWS = 200;

/** Rows that are shown while one follows, when only the last ones are seen. */
const FOLLOWED_ROWS = 60;

/** How many rows one goes back or forth at once. */
const STEP = 100;

/**
 * The part of the calls that is shown: the latest while one follows, or those from a call at which one reads, which then stay in their places.
 */
export class TimelineWindow {
  /** The first call that is shown; `undefined` while one follows. */
  #first: string | undefined;

  get isFollowing(): boolean {
    return this.#first === undefined;
  }

  follow(): void {
    this.#first = undefined;
  }

  /** Stays at the calls that are shown now. */
  hold(calls: readonly PageCall[]): void {
    this.#first ??= calls[Math.max(0, calls.length - MOST_ROWS)]?.id;
  }

  /** Moves to earlier or later calls. */
  move(calls: readonly PageCall[], direction: -1 | 1): void {
    const start = Math.max(0, this.of(calls).start + direction * STEP);
    this.#first = start + MOST_ROWS >= calls.length ? undefined : calls[start]?.id;
  }

  /** Moves so that a call is shown. */
  show(calls: readonly PageCall[], id: string): void {
    const index = calls.findIndex((call) => call.id === id);
    const { start, rows } = this.of(calls);
    if (index < 0 || (index >= start && index < start + rows.length)) return;
    this.#first = calls[Math.max(0, index - STEP)]?.id;
  }

  of(calls: readonly PageCall[]): {
    readonly start: number;
    readonly rows: readonly PageCall[];
    readonly later: number;
  } {
    const held = this.#first === undefined ? -1 : calls.findIndex(({ id }) => id === this.#first);
    // A call that is no longer kept leaves the first that is.
    const start = this.#first === undefined ? Math.max(0, calls.length - FOLLOWED_ROWS) : Math.max(0, held);
    const rows = calls.slice(start, start + MOST_ROWS);
    return { start, rows, later: calls.length - start - rows.length };
  }
}
