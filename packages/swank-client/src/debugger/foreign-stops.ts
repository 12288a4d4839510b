import { keyword, list, quote, type Sexp, symbol } from "sexp-parser";
import type { Caller } from "../caller.js";
import { decodeValue } from "../decode-value.js";
import type { DebuggerCalls } from "../runtime/debugger-calls.js";
import { foreignStops, levels } from "../runtime/decode-foreign-stops.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import { ForeignChannel } from "./foreign-channel.js";
import type { ForeignStop, ForeignStopReport } from "./foreign-stop.js";
import { OpenableStop } from "./openable-stop.js";

/** Milliseconds that the image has to tell what is stopped. */
const LIST_TIME = 10_000;

const THREADS = list(symbol("sb-thread:list-all-threads"));
const AS_MANY = list(symbol("cl:length"), THREADS);

/** The level of each thread in Swank's debugger, of plain calls that nothing need be loaded or compiled for. */
const LEVELS: Sexp = list(
  symbol("cl:mapcar"),
  quote(symbol("sb-thread:symbol-value-in-thread")),
  list(symbol("cl:make-list"), AS_MANY, keyword("initial-element"), quote(symbol("swank::*sldb-level*"))),
  THREADS,
  list(symbol("cl:make-list"), AS_MANY),
);

/** Finds what is stopped in the debuggers of an image's other clients. */
export class ForeignStops {
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;
  /** By the image's number for each. */
  readonly #known = new Map<number, OpenableStop>();
  #isNeeded = false;

  constructor(caller: Caller, installer: RuntimeInstaller) {
    this.#caller = caller;
    this.#installer = installer;
  }

  /** Asks the image. Nothing is loaded into it as long as nothing is stopped. */
  async list(): Promise<readonly ForeignStop[]> {
    if (!(await this.#mayHaveAny())) return [];
    const before = [...this.#known.values()];
    const calls = await this.#installer.debugger();
    const label = "foreign stops";
    const reply = await this.#caller.call(calls.foreignStops(), { label, timeout: LIST_TIME });
    const reports = decodeValue(foreignStops, reply, label);
    for (const stop of before) if (!reports.some(({ number }) => number === stop.number)) stop.end();
    return reports.map((report) => this.#take(report, calls));
  }

  /** The connection is over. */
  clear(): void {
    for (const stop of this.#known.values()) stop.end();
    this.#known.clear();
  }

  async #mayHaveAny(): Promise<boolean> {
    if (this.#isNeeded) return true;
    const label = "stopped threads";
    const reply = await this.#caller.call(LEVELS, { label, timeout: LIST_TIME });
    this.#isNeeded = decodeValue(levels, reply, label).some((level) => level > 0);
    return this.#isNeeded;
  }

  /** One whose owner has gone since is another to whoever was told, or allowed something, of the one before. */
  #take(report: ForeignStopReport, calls: DebuggerCalls): ForeignStop {
    const known = this.#known.get(report.number);
    if (known?.owner.text === report.owner.text) return known;
    const channel = new ForeignChannel(report, this.#caller, calls);
    const stop = new OpenableStop(report, channel, calls, this.#installer);
    channel.ended.addEventListener("abort", () => this.#forget(stop), { once: true });
    this.#known.set(report.number, stop);
    return stop;
  }

  #forget(stop: OpenableStop): void {
    if (this.#known.get(stop.number) === stop) this.#known.delete(stop.number);
  }
}
