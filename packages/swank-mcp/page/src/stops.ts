import { html, nothing, type TemplateResult } from "lit-html";
import type { Looks, PageFrame, PageStop } from "../../src/page/model.js";
import { lispCode } from "./code-view.js";
import type { PageContext } from "./context.js";
import { count, elapsed } from "./format.js";
import { FrameDetail } from "./frame-detail.js";
import { type FrameFold, foldedFrames } from "./frame-folds.js";
import { icon } from "./icons.js";
import { Loading, loadingView } from "./loading.js";
import { stopKey } from "./reduce.js";
import { Restarts } from "./restarts.js";
import { focusSoon, rove } from "./roving.js";

type StopResult = Looks["stop"]["result"];

/** Milliseconds between the end of a call and a look at the variables of the open frame: an agent may make many calls at once. */
const LOOK_PAUSE = 500;

/** What stopped a thread, as a phrase after its name. */
const REASONS: Readonly<Record<PageStop["reason"], string>> = {
  error: "stopped with an error",
  break: "called BREAK",
  breakpoint: "reached a breakpoint",
  step: "steps",
  interrupt: "was interrupted",
  unknown: "is stopped",
};

/** A stop that is open, with its frames. */
class OpenStop {
  readonly key: string;
  readonly restarts = new Restarts();
  readonly #stop: PageStop;
  readonly #loading: Loading<StopResult>;
  #frame: FrameDetail | undefined;
  /** The first frames of the folds that are open. */
  readonly #unfolded = new Set<number>();
  /** The calls that had ended when the frame was read last. */
  #ended: string;
  #lookTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(context: PageContext, stop: PageStop) {
    this.key = stopKey(stop);
    this.#stop = stop;
    this.#ended = endedCalls(context);
    this.#loading = new Loading(() => context.update());
    const { thread, level } = stop;
    this.#loading.load(async (signal) => {
      const result = await context.look("stop", { thread, level }, signal);
      const frame = result.frames.find(({ kind }) => kind === "user") ?? result.frames[0];
      if (frame !== undefined) this.#open(context, frame);
      setTimeout(showOpenFrame, 50);
      return result;
    });
  }

  /** Ends what loads, when another stop is opened. */
  end(): void {
    clearTimeout(this.#lookTimer);
    this.#loading.stop();
  }

  /** Looks at the open frame again soon, if it is seen: what has ended meanwhile may have set its variables. */
  lookAgain(context: PageContext): void {
    this.#lookTimer ??= setTimeout(() => {
      this.#lookTimer = undefined;
      this.#ended = endedCalls(context);
      this.#frame?.mayHaveChanged(context);
      context.update();
    }, LOOK_PAUSE);
  }

  view(context: PageContext, stop: PageStop): TemplateResult {
    if (endedCalls(context) !== this.#ended && !document.hidden) this.lookAgain(context);
    return html`<article class="stop" aria-labelledby="stop-title">
      <header class="condition">
        <p class="thread">Thread ${stop.thread}${stop.threadName === undefined ? nothing : html` <q>${stop.threadName}</q>`}
          ${REASONS[stop.reason]}${stop.level > 1 ? ` at level ${stop.level}` : nothing}${
            stop.owner === undefined ? nothing : html` in the debugger of <b>${stop.owner}</b>`
          }, ${elapsed(Date.now() - stop.since)} ago</p>
        <h2 id="stop-title">${icon("stop")}<code>${stop.type}</code></h2>
        <p class="message">${stop.message}</p>
        ${this.#slotsView()}
        ${this.restarts.view(context, stop)}
      </header>
      ${loadingView(this.#loading, "the frames", (result) => this.#framesView(context, result))}
    </article>`;
  }

  #slotsView(): TemplateResult | typeof nothing {
    const slots = this.#loading.value?.slots ?? [];
    if (slots.length === 0) return nothing;
    return html`<details class="slots"><summary>Slots of the condition</summary>
      <dl>${slots.map(({ name, value }) => html`<div><dt>${name}</dt><dd><code>${lispCode(value)}</code></dd></div>`)}</dl>
    </details>`;
  }

  #framesView(context: PageContext, { frames, totalFrames }: StopResult): TemplateResult {
    const rows = foldedFrames(frames, totalFrames, (first) => this.#unfolded.has(first));
    const left = rows.some((row) => "isBelow" in row && row.isBelow) ? 0 : totalFrames - frames.length;
    return html`<div class="split frames-split has-detail">
      <div class="list">
        <h3 class="list-title">Frames <span class="number">${totalFrames}</span></h3>
        <ol class="frames" aria-label="Frames" @keydown=${rove}>${rows.map((row) => ("kind" in row ? this.#frameView(context, row) : this.#foldView(context, row)))}</ol>
        ${
          left > 0
            ? html`<p class="edge"><button class="button small" ?disabled=${this.#loading.isLoading}
                @click=${() => this.#more(context)}>More frames (${left.toLocaleString("en")} left)</button></p>`
            : nothing
        }
      </div>
      <div class="detail">${this.#frame?.view(context) ?? nothing}</div>
    </div>`;
  }

  #frameView(context: PageContext, frame: PageFrame): TemplateResult {
    const isOpen = this.#frame?.frame.index === frame.index;
    const open = () => {
      this.#open(context, frame);
      context.update();
    };
    return html`<li class="is-${frame.kind}">
      <button class="frame" data-rove data-index=${frame.index} tabindex=${isOpen ? 0 : -1} aria-current=${isOpen ? "true" : nothing} @click=${open}>
        <span class="number">${frame.index}</span><code>${lispCode(frame.call.slice(0, 300))}</code>
      </button>
    </li>`;
  }

  #foldView(context: PageContext, { first, count: frames, isBelow }: FrameFold): TemplateResult {
    const unfold = () => {
      this.#unfolded.add(first);
      context.update();
      focusSoon(`.frame[data-index="${first}"]`);
    };
    return html`<li><button class="frame fold" data-rove tabindex="-1" aria-expanded="false" @click=${unfold}>
      ${icon("open")}${count(frames, "frame")} of Lisp${isBelow ? " below" : nothing}
    </button></li>`;
  }

  #open(context: PageContext, frame: PageFrame): void {
    if (this.#frame?.frame.index !== frame.index) this.#frame = new FrameDetail(context, this.#stop, frame);
  }

  #more(context: PageContext): void {
    const before = this.#loading.value;
    if (before === undefined || this.#loading.isLoading) return;
    const { thread, level } = this.#stop;
    const start = before.frames.length;
    this.#loading.load(async (signal) => {
      const { frames, totalFrames } = await context.look("frames", { thread, level, start }, signal);
      return { ...before, frames: [...before.frames, ...frames], totalFrames };
    });
  }
}

/** Tells which calls have ended: another text after each end. */
function endedCalls({ state }: PageContext): string {
  const ended = state.calls.flatMap((call) => call.ended ?? []);
  return `${state.forgotten + ended.length} ${Math.max(0, ...ended)}`;
}

/** Scrolls the list of frames to the one that is open, and nothing else. */
function showOpenFrame(): void {
  const frame = document.querySelector<HTMLElement>(".frame[aria-current]");
  const list = frame?.closest<HTMLElement>(".list");
  if (!frame || !list) return;
  const below = frame.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom;
  if (below > 0) list.scrollTop += below + list.clientHeight / 2;
}

let opened: OpenStop | undefined;

/** The stop that was chosen, while it is there. */
let chosen: { readonly thread: number; readonly level: number } | undefined;

/** Whether another panel was shown since the stop was shown last. */
let wasAway = false;

/** Notes that the stops are not seen now. */
export function leaveStops(): void {
  wasAway = true;
}

/** Chooses a stop. */
export function selectStop(thread: number, level: number): void {
  chosen = { thread, level };
}

/** The stopped threads, and one of them with its condition, restarts and frames. */
export function stopsPanel(context: PageContext): TemplateResult {
  const { stops } = context.state;
  const stop = stops.find(({ thread, level }) => thread === chosen?.thread && level === chosen.level) ?? stops.at(-1);
  if (stop === undefined) {
    opened?.end();
    opened = undefined;
    return html`<div class="panel"><div class="empty"><h3>No thread is stopped</h3>
      <p>When code signals an error or reaches a breakpoint, its condition, restarts and frames appear here.</p></div></div>`;
  }
  if (opened?.key !== stopKey(stop)) {
    opened?.end();
    opened = new OpenStop(context, stop);
  } else if (wasAway) opened.lookAgain(context);
  wasAway = false;
  return html`<div class="panel stops">
    ${stops.length > 1 ? choiceView(context, stop) : nothing}
    ${opened.view(context, stop)}
  </div>`;
}

function choiceView(context: PageContext, shown: PageStop): TemplateResult {
  return html`<ul class="choices" aria-label="Stopped threads" @keydown=${rove}>
    ${context.state.stops.map((stop) => {
      const isShown = stop === shown;
      const choose = () => {
        selectStop(stop.thread, stop.level);
        context.update();
      };
      return html`<li><button class="choice" data-rove tabindex=${isShown ? 0 : -1} aria-current=${isShown ? "true" : nothing} @click=${choose}>
        ${icon("stop")}Thread ${stop.thread}${stop.level > 1 ? `/${stop.level}` : nothing} <code>${stop.type}</code>
      </button></li>`;
    })}
  </ul>`;
}
