import { decode, type Sexp } from "sexp-parser";
import { callListener } from "../call-listener.js";
import type { Caller } from "../caller.js";
import type { Connection } from "../connection/connection.js";
import { decodeValue } from "../decode-value.js";
import { asSwankError } from "../errors.js";
import { evaluationResult } from "../runtime/decode-result.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import type { RuntimeCalls } from "../runtime/runtime-calls.js";
import type { WriteStringMessage } from "../wire/messages.js";
import { type EvaluateOptions, evaluateCall } from "./evaluate-options.js";
import type { Evaluation } from "./evaluation.js";
import { type EvaluationControl, EvaluationTask } from "./evaluation-task.js";
import { outputTarget } from "./output-target.js";
import { tellResult } from "./tell-result.js";
import type { SessionState } from "./transcript.js";

/** Milliseconds that the image has to answer a request about an evaluation. */
const CONTROL_TIME = 10_000;
/** Evaluations that have ended and still get text, from threads that their code started. */
const REMEMBERED = 64;

const threadNumber = decode.nullable(decode.integer);

/** Sends evaluations to the image, and brings them what the image says of them. */
export class EvaluationRunner {
  readonly #connection: Connection;
  readonly #caller: Caller;
  readonly #installer: RuntimeInstaller;
  readonly #running = new Map<number, EvaluationTask>();
  /** The latest that have ended, oldest first. */
  readonly #ended = new Map<number, EvaluationTask>();
  /** Evaluations whose image said that it is ending. */
  readonly #exiting = new Set<number>();
  /** Swank's own beginning: COMMON-LISP-USER, whatever the image's global package is. */
  readonly #session: SessionState = { package: "COMMON-LISP-USER" };
  readonly #control: EvaluationControl;

  constructor(connection: Connection, caller: Caller, installer: RuntimeInstaller) {
    this.#connection = connection;
    this.#caller = caller;
    this.#installer = installer;
    this.#control = {
      interrupt: (id, count) => this.#ask("interrupt", (calls) => calls.interrupt(id, count)),
      abort: (id) => this.#ask("abort", (calls) => calls.abort(id)),
      kill: (id) => this.#ask("kill", (calls) => calls.kill(id)),
    };
  }

  /** Evaluations that have not ended. */
  get running(): readonly Evaluation[] {
    return [...this.#running.values()];
  }

  /** The evaluation that one of these requests is, while it runs. */
  findAmong(requests: readonly number[]): EvaluationTask | undefined {
    return requests.map((id) => this.#running.get(id)).find((task) => task !== undefined);
  }

  /** Never throws: what is wrong with the call, `next()` tells. */
  start(code: string, options: EvaluateOptions): Evaluation {
    const onOutput = this.#guarded(options?.onOutput);
    const task = new EvaluationTask(this.#connection.nextId(), this.#control, this.#session, onOutput);
    this.#running.set(task.id, task);
    void this.#run(task, code, options).finally(() => this.#retire(task));
    return task;
  }

  #guarded(onOutput: EvaluateOptions["onOutput"]): EvaluateOptions["onOutput"] {
    if (typeof onOutput !== "function") return undefined;
    const report = (error: unknown) => this.#connection.reportListenerError(error, "output");
    return (chunk) => callListener(onOutput, chunk, report);
  }

  /** @returns false for text that belongs to no evaluation. */
  output({ target, text }: WriteStringMessage): boolean {
    const found = outputTarget(target);
    if (found === undefined) return false;
    const task = this.#running.get(found.id) ?? this.#ended.get(found.id);
    if (found.stream !== "exit") task?.output(found.stream, text, found.omittedBefore);
    else if (this.#running.has(found.id)) this.#exiting.add(found.id);
    return true;
  }

  #retire(task: EvaluationTask): void {
    this.#running.delete(task.id);
    this.#ended.set(task.id, task);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= REMEMBERED) break;
      this.#ended.delete(oldest);
    }
  }

  async #run(task: EvaluationTask, code: string, options: EvaluateOptions): Promise<void> {
    let sent = false;
    try {
      const call = evaluateCall(task.id, code, options);
      const calls = await this.#installer.evaluate();
      sent = this.#connection.isOpen;
      const reply = await this.#connection.request(calls.evaluate(call), { label: "evaluate", id: task.id });
      if (reply.status === "ok") tellResult(task, code, decodeValue(evaluationResult, reply.value, "evaluate"));
      else await this.#unwound(task);
    } catch (error) {
      const cause = asSwankError(error);
      if (sent && !this.#connection.isOpen) task.ended({ status: "lost", cause });
      else task.refused(cause);
    }
  }

  /** Its thread was ended from outside: by force, or because the whole image exits. */
  async #unwound(task: EvaluationTask): Promise<void> {
    if (!this.#exiting.delete(task.id)) task.ended({ status: "aborted" });
    else task.ended({ status: "lost", cause: await this.#connection.closed });
  }

  async #ask(label: string, form: (calls: RuntimeCalls) => Sexp): Promise<number | undefined> {
    const request = { label, timeout: CONTROL_TIME };
    const reply = await this.#caller.ask(this.#installer.evaluate(), form, request);
    return decodeValue(threadNumber, reply, label) ?? undefined;
  }
}
