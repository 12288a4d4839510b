import type { Caller } from "../caller.js";
import { checkOptions } from "../check-options.js";
import { decodeValue } from "../decode-value.js";
import type { Evaluation } from "../evaluation/evaluation.js";
import { QUESTION_OPTIONS } from "../question-options.js";
import { definitions, undoing } from "../runtime/decode-definitions.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import type { Definitions, DefinitionsOptions, ResetReport } from "./definition.js";

/** Milliseconds that the image has to answer; while it compiles something large, it answers late. */
const ANSWER_TIME = 30_000;

/** What a client's evaluations have left in the image, and how to be rid of it. */
export class SessionState {
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;

  constructor(caller: Caller, installer: RuntimeInstaller) {
    this.#caller = caller;
    this.#installer = installer;
  }

  /** @throws SwankError what `Caller.ask` throws. */
  async definitions(options: DefinitionsOptions): Promise<Definitions> {
    checkOptions("definitions", options, { ...QUESTION_OPTIONS, kind: true });
    const { kind, signal } = options;
    if (this.#installer.unused) return { definitions: [], loaded: [] };
    const request = { label: "listing definitions", timeout: ANSWER_TIME, signal };
    const loading = this.#installer.definitions();
    const reply = await this.#caller.ask(loading, (calls) => calls.definitions(), request);
    const all = decodeValue(definitions, reply, request.label);
    if (kind === undefined) return all;
    return { definitions: all.definitions.filter((definition) => definition.kind === kind), loaded: [] };
  }

  /** @throws SwankError what `Caller.ask` throws. */
  async reset(running: readonly Evaluation[]): Promise<ResetReport> {
    const ended = await Promise.allSettled(running.map((evaluation) => evaluation.abort()));
    const stillRunning = ended.filter(({ status }) => status === "rejected").length;
    const counts = { aborted: ended.length - stillRunning, stillRunning };
    if (this.#installer.unused) return { undefined: [], left: [], loaded: [], ...counts };
    const request = { label: "resetting the session", timeout: ANSWER_TIME };
    const loading = this.#installer.definitions();
    const reply = await this.#caller.ask(loading, (calls) => calls.reset(), request);
    return { ...decodeValue(undoing, reply, request.label), ...counts };
  }
}
