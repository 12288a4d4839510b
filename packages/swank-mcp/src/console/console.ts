import { setTimeout } from "node:timers/promises";
import type { Place } from "../agent/agent-session.js";
import type { Ask } from "../agent/elicitation.js";
import type { ToolCall } from "../calls/run-tool.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import type { ToolServer } from "../tools/tool-server.js";
import { answerText } from "./answer-text.js";
import { type OwnCommand, offeredCommands, type ToolCommand } from "./commands.js";
import type { EntryReader } from "./entry-reader.js";
import { greetingText, noticesText } from "./greeting.js";
import { commandsText } from "./help-text.js";
import { LiveOutput } from "./live-output.js";
import { LiveView, type ScreenSize } from "./live-view.js";
import { misuseText } from "./misuse-text.js";
import { consolePrompt, stopOf } from "./prompt.js";
import type { Entry, Question } from "./read-entry.js";

/** The parts of a console. */
export interface ConsoleParts {
  readonly tools: ToolServer;
  readonly entries: EntryReader;
  /** How to add the server to MCP clients. */
  readonly setup: string;
  /** Absent when no user can be asked. */
  readonly ask: Ask | undefined;
  /** The size of the terminal at the moment; absent without one. */
  readonly size: (() => ScreenSize) | undefined;
  write(text: string): void;
  /** Resolves when all written text has been read. */
  read(): Promise<void>;
}

/** Controllers that interrupt or cancel a call. */
class Running {
  readonly interrupt = new AbortController();
  readonly cancel = new AbortController();
}

/** Sends the user's entries to the tools, one after another, and shows the answers. */
export class Console {
  readonly #parts: ConsoleParts;
  #place: Place | undefined;
  /** The thread chosen with `,thread`. */
  #thread: string | undefined;
  /** The running call, or the call of an entry that Ctrl-C followed before the call began. */
  #running: Running | undefined;
  /** Ends the answers that are shown again and again. */
  #live: AbortController | undefined;
  #hasLeft = false;
  #hasFailed = false;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
  }

  /** True once an answer was an error or a command was wrong. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /**
   * Opens the session, and shows the image.
   *
   * @returns false when Lisp cannot be reached; the reason has then been shown.
   */
  async greet(): Promise<boolean> {
    const answer = await this.#call("lisp-status", {}, () => {});
    if (this.#hasLeft) return false;
    this.#parts.write(answer.isError ? `${answerText(answer)}\n` : greetingText(answer));
    return !answer.isError;
  }

  /**
   * Opens the session without a greeting, so that a file that cannot be loaded is reported even if there is no entry.
   *
   * @returns false when Lisp cannot be reached; the reason has then been shown.
   */
  async open(): Promise<boolean> {
    const answer = await this.#call("lisp-status", {}, () => {});
    if (this.#hasLeft) return false;
    const session = await this.#parts.tools.agent.host.current();
    if (answer.isError || session?.isPartlyLoaded === true) this.#hasFailed = true;
    this.#parts.write(answer.isError ? `${answerText(answer)}\n` : noticesText(answer));
    return !answer.isError;
  }

  /** Takes entries until the input ends or an entry leaves the console. */
  async run(): Promise<void> {
    while (!this.#hasLeft) {
      const entry = await this.#parts.entries.next(await this.#prompt());
      if (entry === undefined) return;
      if (!this.#hasLeft) await this.#take(entry);
      // An entry without a call leaves its interrupt.
      this.#running = undefined;
      await this.#parts.read();
    }
  }

  /**
   * Handles Ctrl-C: the first pauses an evaluation, the second aborts it. At the prompt it clears the typed text. `,live` ends at once.
   *
   * A terminal can send Enter and Ctrl-C together, before the entry's call begins. They concern that call.
   */
  interrupt(): void {
    if (this.#live !== undefined) this.#endLive();
    else if (this.#running === undefined && !this.#parts.entries.hasNext) this.#parts.entries.clear();
    else {
      this.#running ??= new Running();
      const { interrupt, cancel } = this.#running;
      (interrupt.signal.aborted ? cancel : interrupt).abort();
    }
  }

  /** Takes no further entry, and shows no further answer. */
  leave(): void {
    this.#hasLeft = true;
    this.#endLive();
  }

  #endLive(): void {
    this.#live?.abort();
    this.#running?.cancel.abort();
  }

  async #prompt(): Promise<string> {
    this.#place = await this.#parts.tools.agent.place();
    return consolePrompt(this.#place?.packageName, this.#stop);
  }

  /** The stop that the prompt shows. A later stop is not the one that the user's command is for. */
  get #stop(): string | undefined {
    return stopOf(this.#place, this.#thread);
  }

  async #take(entry: Entry): Promise<void> {
    switch (entry.kind) {
      case "nothing":
        return;
      case "mistake":
        return this.#complain(entry.text);
      case "own":
        return this.#do(entry.command.does, entry.words);
      case "live":
        return this.#show(entry);
      default:
        return this.#send(entry);
    }
  }

  #callOf(question: Question): { tool: string; args: Readonly<Record<string, unknown>>; command?: ToolCommand } {
    if (question.kind === "code") return { tool: "evaluate-lisp", args: { code: question.code } };
    const { command, input } = question;
    const args = command.args({ ...input, packageName: this.#place?.packageName });
    return { tool: command.tool, args: command.ofStop ? { ...args, thread: this.#stop } : args, command };
  }

  #do(what: OwnCommand["does"], [word = ""]: readonly string[]): void {
    switch (what) {
      case "choose-thread":
        this.#choose(word);
        break;
      case "setup":
        this.#parts.write(this.#parts.setup);
        break;
      case "help":
        this.#parts.write(
          `${commandsText(offeredCommands(this.#parts.tools.guide), this.#parts.tools.agent.config.readOnly)}\n`,
        );
        break;
      case "quit":
        this.leave();
    }
  }

  #choose(word: string): void {
    const [thread] = word.split("/");
    const stops = this.#place?.stops ?? [];
    if (stops.some((stop) => stop.split("/")[0] === thread)) this.#thread = thread;
    else this.#complain(`Thread ${thread} is not stopped. Stopped threads: ${stops.join(", ") || "none"}.`);
  }

  #complain(text: string): void {
    this.#hasFailed = true;
    this.#parts.write(`${text}\n`);
  }

  async #send(question: Question): Promise<void> {
    const { tool, args, command } = this.#callOf(question);
    const output = new LiveOutput((text) => this.#parts.write(text));
    const answer = await this.#call(tool, args, (text, stream) => output.add(text, stream));
    if (this.#hasLeft) return;
    if (answer.isError) this.#hasFailed = true;
    output.finish(shownText(answer, command));
  }

  /** Shows the answer again and again, until Ctrl-C or an error. */
  async #show({ question, seconds, title }: Extract<Entry, { kind: "live" }>): Promise<void> {
    if (this.#parts.size === undefined) return this.#complain(",live needs a terminal.");
    const { tool, args, command } = this.#callOf(question);
    const view = new LiveView(title, seconds, this.#parts.size, (text) => this.#parts.write(text));
    const live = new AbortController();
    this.#live = live;
    view.show("");
    try {
      while (!live.signal.aborted) {
        const next = pause(1000 * seconds, live.signal);
        const answer = await this.#call(tool, args, () => {});
        if (live.signal.aborted) return;
        const text = shownText(answer, command);
        if (answer.isError) return view.end(text);
        view.show(text);
        await next;
      }
    } finally {
      live.abort();
      this.#live = undefined;
    }
  }

  async #call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    progress: ToolCall["progress"],
  ): Promise<ToolAnswer> {
    const { ask, tools } = this.#parts;
    this.#running ??= new Running();
    const running = this.#running;
    try {
      const { signal } = running.cancel;
      return await tools.call({ name, args, signal, interrupt: running.interrupt.signal, progress, ask });
    } finally {
      this.#running = undefined;
    }
  }
}

function shownText(answer: ToolAnswer, command: ToolCommand | undefined): string {
  return (command === undefined ? undefined : misuseText(answer, command)) ?? answerText(answer);
}

/** Resolves after the time, or when the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}
