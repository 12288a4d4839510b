import { html, nothing, type TemplateResult } from "lit-html";
import type { PageContext } from "../context.js";
import { clock, firstLine } from "../format.js";
import { Loading, loadingView } from "../loading.js";
import { numberOf, textOf } from "./panel.js";

/** Most calls of agents to choose from. */
const MOST_CALLS = 50;

/** Seconds to watch, unless the person chooses others. */
const USUAL_SECONDS = 5;

const MOST_SECONDS = 120;

/** A result, if there is one, and what it is of. */
interface Watched<Result> {
  readonly of: string;
  readonly result: Result | undefined;
}

/** A panel that watches the program for some seconds, or shows what an agent's call has watched. */
export abstract class WatchPanel<Result> {
  readonly #name: string;
  /** The tool whose calls have such results. */
  readonly #tool: string;
  #context: PageContext | undefined;
  readonly #result = new Loading<Watched<Result>>(() => this.#context?.update());
  #seconds = USUAL_SECONDS;
  /** When the watch began; `undefined` while there is none. */
  #begun: number | undefined;
  #timer: number | undefined;
  #call = "";

  constructor(name: string, tool: string) {
    this.#name = name;
    this.#tool = tool;
  }

  /** Fields for what to watch. */
  protected abstract fields(context: PageContext): TemplateResult;

  /** Watches for some seconds. */
  protected abstract ask(context: PageContext, seconds: number, signal: AbortSignal): Promise<Result>;

  /** What an agent's call has watched. */
  protected abstract ofCall(context: PageContext, call: string, signal: AbortSignal): Promise<Result | undefined>;

  protected abstract readonly view: (context: PageContext, result: Result) => TemplateResult;

  /** Why nothing can be watched now. */
  protected problem(_: PageContext): string | undefined {
    return undefined;
  }

  render(context: PageContext): TemplateResult {
    this.#context = context;
    const isWatching = this.#begun !== undefined && this.#result.isLoading;
    return html`<div id="${this.#name}-panel" class="panel inspect">
      <form
        class="toolbar"
        @submit=${(event: Event) => {
          event.preventDefault();
          if (isWatching) this.#stop();
          else this.#start(context);
        }}
      >
        ${this.fields(context)}
        <label class="row"
          >for
          <input
            type="number"
            min="1"
            max=${MOST_SECONDS}
            .value=${String(this.#seconds)}
            @change=${(event: Event) => {
              this.#seconds = numberOf(event, 1, MOST_SECONDS, USUAL_SECONDS);
            }}
          />
          seconds</label
        >
        <button type="submit" class="button primary" ?disabled=${!isWatching && this.problem(context) !== undefined}>${isWatching ? "Cancel" : "Start"}</button>
        ${this.#calls(context)}
      </form>
      <div class="inspect-body">${isWatching ? this.#progress() : this.#shown(context)}</div>
    </div>`;
  }

  #shown(context: PageContext): TemplateResult {
    return loadingView(this.#result, "result", ({ of, result }) => {
      if (result === undefined) return html`<p>The call has no such result.</p>`;
      return html`<h3>${of}</h3>
        ${this.view(context, result)}`;
    });
  }

  #progress(): TemplateResult {
    const passed = Math.min(this.#seconds, (Date.now() - (this.#begun ?? Date.now())) / 1000);
    return html`<p class="watching" role="status">
      Watching all threads…
      <progress max=${this.#seconds} value=${passed} aria-label="Seconds that have passed"></progress>
      ${Math.floor(passed)} of ${this.#seconds} s
    </p>`;
  }

  #start(context: PageContext): void {
    this.#begun = Date.now();
    this.#call = "";
    const of = `${this.#seconds} s from ${clock(this.#begun)}`;
    this.#result.load(async (signal) => ({ of, result: await this.ask(context, this.#seconds, signal) }));
    window.clearInterval(this.#timer);
    this.#timer = window.setInterval(() => {
      if (this.#begun === undefined || !this.#result.isLoading) window.clearInterval(this.#timer);
      context.update();
    }, 250);
  }

  #stop(): void {
    this.#begun = undefined;
    this.#result.stop();
  }

  /** A list of the agents' calls that have watched something. */
  #calls(context: PageContext): TemplateResult | typeof nothing {
    const { calls } = context.state;
    const known = calls.filter(({ tool, ended, isError }) => tool === this.#tool && ended !== undefined && !isError);
    if (known.length === 0) return nothing;
    return html`<label class="row"
      >or a call
      <select @change=${(event: Event) => this.#choose(context, textOf(event))}>
        <option value="" ?selected=${this.#call === ""}>choose…</option>
        ${known
          .slice(-MOST_CALLS)
          .reverse()
          .map(
            (call) =>
              html`<option value=${call.id} ?selected=${this.#call === call.id}>${clock(call.begun)} ${context.nameOf(call)}: ${firstLine(call.code, 60)}</option>`,
          )}
      </select></label
    >`;
  }

  #choose(context: PageContext, id: string): void {
    const call = context.state.calls.find((each) => each.id === id);
    if (call === undefined) return;
    this.#begun = undefined;
    this.#call = id;
    const of = `${clock(call.begun)} ${firstLine(call.code, 100)}`;
    this.#result.load(async (signal) => ({ of, result: await this.ofCall(context, id, signal) }));
  }
}
