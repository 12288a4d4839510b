import { decodeValue } from "../decode-value.js";
import type { DebuggerCalls } from "../runtime/debugger-calls.js";
import { stopReport } from "../runtime/decode-snapshot.js";
import type { RuntimeInstaller } from "../runtime/installer.js";
import { DebuggerSession } from "./debugger-session.js";
import type { ForeignChannel } from "./foreign-channel.js";
import type { ForeignStop, ForeignStopReport } from "./foreign-stop.js";

/** A stop of another client's, with the way to it. */
export class OpenableStop implements ForeignStop {
  readonly #report: ForeignStopReport;
  readonly #channel: ForeignChannel;
  readonly #calls: DebuggerCalls;
  readonly #installer: RuntimeInstaller;
  #session: Promise<DebuggerSession> | undefined;

  constructor(report: ForeignStopReport, channel: ForeignChannel, calls: DebuggerCalls, installer: RuntimeInstaller) {
    this.#report = report;
    this.#channel = channel;
    this.#calls = calls;
    this.#installer = installer;
  }

  get number() {
    return this.#report.number;
  }

  get thread() {
    return this.#report.thread;
  }

  get level() {
    return this.#report.level;
  }

  get threadName() {
    return this.#report.threadName;
  }

  get condition() {
    return this.#report.condition;
  }

  get owner() {
    return this.#report.owner;
  }

  get isLive(): boolean {
    return this.#channel.isLive;
  }

  /** It was found that the thread has left the stop. */
  end(): void {
    this.#channel.end();
  }

  open(): Promise<DebuggerSession> {
    this.#session ??= this.#openAnew();
    return this.#session;
  }

  #openAnew(): Promise<DebuggerSession> {
    const opening = this.#open();
    // A failed attempt may be repeated; only the latest one may be forgotten.
    opening.catch(() => {
      if (this.#session === opening) this.#session = undefined;
    });
    return opening;
  }

  async #open(): Promise<DebuggerSession> {
    const label = "describing a stop";
    const reply = await this.#channel.ask(this.#calls.describeForeignStop(), label);
    const report = decodeValue(stopReport, reply, label);
    return new DebuggerSession(this.#channel, report, this.#installer, { owner: this.owner });
  }
}
