import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { PageContext } from "../context.js";
import { count, elapsed, firstLine } from "../format.js";
import { Loading, loadingView } from "../loading.js";
import type { ProgramThread, ProgramThreads } from "./data.js";
import { Repeater } from "./panel.js";
import {
  LABEL_LETTERS,
  NODE_HEIGHT,
  NODE_WIDTH,
  type PlacedNode,
  type PlacedWait,
  type Wait,
  type WaitDrawing,
  type WaitGraph,
  waitDrawings,
  waitGraph,
} from "./wait-graph.js";

const ID = "threads-panel";

const REFRESH_SECONDS = 2;

const WHOSE: Record<ProgramThread["whose"], string> = {
  evaluation: "your evaluation",
  code: "your code",
  client: "another client",
  service: "Lisp itself",
  program: "the program",
};

const DOING: Record<ProgramThread["state"], string> = {
  mutex: "waits for",
  join: "waits for the end of a thread",
  queue: "waits for a condition variable",
  semaphore: "waits for",
  lock: "waits for a lock of Lisp",
  "c-lock": "waits for a lock of the C library",
  read: "waits for input",
  write: "waits to write",
  accept: "waits for a connection",
  input: "waits for input",
  sleep: "sleeps",
  process: "waits for a process",
  memory: "is in a system call",
  other: "is in a system call",
  stopped: "is stopped in the debugger",
  running: "runs",
  unknown: "is not known on this system",
};

const UNREAD: Record<NonNullable<ProgramThread["unread"]>, string> = {
  stopped: "It is in a debugger, which shows its frames.",
  service: "It serves clients, or belongs to Lisp.",
  "without-interrupts": "It allows no interrupts now.",
  compiling: "It compiles, and holds Lisp's lock for that.",
  "world-lock": "It waits for Lisp's lock on the compiler.",
  "timed-wait": "It waits with a time limit, which an interrupt could end early.",
  foreign: "It is in C code, which may hold locks.",
  silent: "It did not answer in time.",
  failed: "Its stack could not be read.",
  late: "Reading the stacks of other threads took all the time.",
};

class ThreadsPanel {
  #context: PageContext | undefined;
  readonly #repeater = new Repeater(ID);
  readonly #list = new Loading<ProgramThreads>(() => this.#context?.update());
  readonly #stacks = new Loading<ProgramThreads>(() => this.#context?.update());
  readonly #open = new Set<number>();
  #filter = false;

  render(context: PageContext): TemplateResult {
    this.#context = context;
    const refresh = () => {
      if (!this.#list.isLoading) this.#list.load((signal) => context.look("threads", {}, signal));
    };
    this.#repeater.rendered(REFRESH_SECONDS, refresh, refresh);
    return html`<div id=${ID} class="panel inspect">
      <div class="toolbar">
        <label class="check"
          ><input
            type="checkbox"
            .checked=${this.#filter}
            @change=${() => {
              this.#filter = !this.#filter;
              context.update();
            }}
          />
          Hide threads of Lisp itself</label
        >
        <span class="quiet">Listed every ${REFRESH_SECONDS} s, which interrupts no thread.</span>
      </div>
      <div class="inspect-body">${loadingView(this.#list, "threads", (threads) => this.#view(context, threads))}</div>
    </div>`;
  }

  #view(context: PageContext, { threads, count: total, deadlocks }: ProgramThreads): TemplateResult {
    const shown = this.#filter ? threads.filter(({ whose }) => whose !== "service") : threads;
    const hidden = threads.length - shown.length;
    const graph = waitGraph(threads);
    const isInCycle = (id: number) => graph.nodes.some((node) => node.id === id && node.isInCycle);
    return html`
      ${deadlocks.map((text) => html`<p class="problem" role="alert">${text}</p>`)}
      ${waitsView(graph)}
      <p class="quiet">
        ${count(total, "thread")}${total > threads.length ? `, the first ${threads.length} listed` : nothing}${hidden > 0 ? `, ${hidden} of Lisp itself hidden` : nothing}
      </p>
      <table class="threads rows">
        <thead>
          <tr>
            <th scope="col">Id</th>
            <th scope="col">Thread</th>
            <th scope="col">Does</th>
            <th scope="col">Whose</th>
            <th scope="col"><span class="unseen">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${shown.map((thread) => this.#row(context, thread, threads, isInCycle(thread.id)))}
        </tbody>
      </table>
    `;
  }

  #row(
    context: PageContext,
    thread: ProgramThread,
    threads: readonly ProgramThread[],
    isInCycle: boolean,
  ): TemplateResult {
    const { id, name, whose, owner, seconds, state } = thread;
    const isOpen = this.#open.has(id);
    const canInterrupt = context.canAct && state !== "stopped" && whose !== "service";
    const by = owner?.agent === undefined ? owner?.text : `agent ${owner.agent}`;
    return html`<tr class=${isInCycle ? "is-cycle" : `is-${state}`}>
        <td class="number" data-label="Id">${id}</td>
        <th scope="row" data-label="Thread">${name}</th>
        <td data-label="Does">${doing(thread, threads)}</td>
        <td data-label="Whose">
          ${by ?? WHOSE[whose]}${seconds === undefined ? nothing : html` <span class="quiet">for ${elapsed(seconds * 1000)}</span>`}
        </td>
        <td class="actions">
          <button class="button small"
            type="button"
            aria-expanded=${isOpen}
            aria-controls="thread-${id}-frames"
            aria-label="Frames of thread ${id}"
            @click=${() => this.#toggle(context, id)}
          >
            Frames
          </button>
          ${
            canInterrupt
              ? html`<button class="button small"
                type="button"
                aria-label="Interrupt thread ${id}"
                title="Stops it in the debugger, where it can be continued"
                @click=${() => context.act({ act: "interrupt", thread: id })}
              >
                Interrupt
              </button>`
              : nothing
          }
        </td>
      </tr>
      ${isOpen ? html`<tr id="thread-${id}-frames" class="below"><td colspan="5">${this.#frames(context, id)}</td></tr>` : nothing}`;
  }

  #toggle(context: PageContext, id: number): void {
    if (this.#open.delete(id)) {
      context.update();
      return;
    }
    this.#open.add(id);
    this.#readStacks(context);
  }

  #readStacks(context: PageContext): void {
    this.#stacks.load((signal) => context.look("threads", { frames: true }, signal));
  }

  #frames(context: PageContext, id: number): TemplateResult {
    return html`${loadingView(this.#stacks, "frames", ({ threads }) => {
      const thread = threads.find((each) => each.id === id);
      if (thread === undefined) return html`<p>It has ended.</p>`;
      const { frames, unread } = thread;
      if (frames === undefined)
        return html`<p>No frames: ${unread === undefined ? "none were read." : UNREAD[unread]}</p>`;
      return html`<ol class="stack" aria-label="Frames of thread ${id}, innermost first">
        ${frames.map((frame) => html`<li class=${frame === thread.function ? "is-program" : ""}><code>${frame}</code></li>`)}
      </ol>`;
    })}
      <button class="button small" type="button" ?disabled=${this.#stacks.isLoading} @click=${() => this.#readStacks(context)}>Read again</button>
      <span class="quiet">Reading them interrupts the threads for a moment.</span>`;
  }
}

function doing(thread: ProgramThread, threads: readonly ProgramThread[]): TemplateResult {
  const { state, what, holder, descriptor, place, recorded = [], level, function: inside } = thread;
  const nameOf = (id: number) => threads.find((each) => each.id === id)?.name;
  const held =
    holder === undefined
      ? nothing
      : html`${state === "join" ? ":" : ", held by"} ${threadName(holder, nameOf(holder))}`;
  const named = recorded.filter(({ thread: id }) => id !== 0);
  const stopped = level > 0 && state !== "stopped" ? "is stopped in the debugger, and before that " : nothing;
  return html`${stopped}${DOING[state]}${what === undefined ? nothing : html` <code>${what}</code>`}${
    descriptor === undefined ? nothing : ` on descriptor ${descriptor}`
  }${held}${level > 0 ? ` (level ${level})` : nothing}${
    inside === undefined ? nothing : html` in <code>${inside}</code>`
  }${place === undefined ? nothing : html`<br /><span class="quiet">${place}</span>`}${
    named.length === 0
      ? nothing
      : html`<br /><span class="quiet">It names ${named.map(({ slot, thread: id }, index) => html`${index > 0 ? ", " : ""}${slot}: ${threadName(id, nameOf(id))}`)}</span>`
  }`;
}

function threadName(id: number, name: string | undefined): TemplateResult {
  return html`<b>${id}</b>${name === undefined ? nothing : html` ${name}`}`;
}

/** Who waits for whom, as drawings and as sentences. */
function waitsView(graph: WaitGraph): TemplateResult | typeof nothing {
  if (graph.waits.length === 0) return nothing;
  const nameOf = (id: number) => `${id} ${graph.nodes.find((node) => node.id === id)?.name ?? ""}`.trim();
  return html`<figure class="waits">
    <figcaption>Who waits for whom</figcaption>
    ${waitDrawings(graph).map((drawing) => html`<div class="drawing">${drawingView(drawing)}</div>`)}
    <details>
      <summary>As text</summary>
      <ul>
        ${graph.waits.map(
          ({ from, to, label, isCertain, isInCycle }) =>
            html`<li>
              ${nameOf(from)} waits for <code>${label}</code>${isCertain ? ", held by" : ", which names"}
              ${nameOf(to)}${isInCycle ? html` <strong>(in a cycle)</strong>` : nothing}
            </li>`,
        )}
      </ul>
    </details>
  </figure>`;
}

function drawingView({ left, top, width, height, nodes, waits }: WaitDrawing): TemplateResult {
  const hasCycle = waits.some(({ wait }) => wait.isInCycle);
  const heading = `${count(nodes.length, "thread")}${hasCycle ? ", some of which wait for each other in a cycle" : ""}. The text below has all waits.`;
  return html`<svg width=${width} height=${height} viewBox="${left} ${top} ${width} ${height}" role="img" aria-label=${heading}>
    <defs>
      ${["plain", "cycle"].map(
        (kind) =>
          svg`<marker id="arrow-${kind}" class="is-${kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0.5 L10 5 L0 9.5 z"></path></marker>`,
      )}
    </defs>
    ${waits.map(arrowView)} ${nodes.map(nodeView)} ${waits.filter(({ isLabelled }) => isLabelled).map(labelView)}
  </svg>`;
}

function waitClass({ isInCycle, isCertain }: Wait): string {
  return `wait${isInCycle ? " is-cycle" : ""}${isCertain ? "" : " is-uncertain"}`;
}

function arrowView({ wait, path }: PlacedWait): TemplateResult {
  const marker = `url(#arrow-${wait.isInCycle ? "cycle" : "plain"})`;
  return svg`<path class=${waitClass(wait)} d=${path} marker-end=${marker}></path>`;
}

/** Most letters of the name in a node. */
const NAME_LETTERS = 19;

function labelView({ wait, x, y, anchor }: PlacedWait): TemplateResult {
  return svg`<text class="${waitClass(wait)} label" x=${x} y=${y + 4} text-anchor=${anchor}><title>${wait.label}</title>${firstLine(wait.label, LABEL_LETTERS)}</text>`;
}

function nodeView({ node, x, y }: PlacedNode): TemplateResult {
  const { id, name, isInCycle, others } = node;
  const [left, top] = [x - NODE_WIDTH / 2, y - NODE_HEIGHT / 2];
  const box = svg`<rect x=${left} y=${top} width=${NODE_WIDTH} height=${NODE_HEIGHT} rx="8"></rect>`;
  if (others !== undefined) {
    return svg`<g class="thread-node is-others">${box}<text x=${x} y=${y + 5} text-anchor="middle">and ${others} more</text></g>`;
  }
  return svg`<g class="thread-node${isInCycle ? " is-cycle" : ""}"><title>${id} ${name}</title>${box}<text class="id" x=${x} y=${y - 4} text-anchor="middle">${id}</text><text x=${x} y=${y + 13} text-anchor="middle">${firstLine(name, NAME_LETTERS)}</text></g>`;
}

const panel = new ThreadsPanel();

/** The threads of the image, what each waits for, and who waits for whom. */
export function threadsPanel(context: PageContext): TemplateResult {
  return panel.render(context);
}
