import { html, nothing, type TemplateResult } from "lit-html";
import type { PageContext } from "../context.js";
import { count } from "../format.js";
import type { RecordedCall, RecordedCondition, Trace } from "./data.js";
import { timeText } from "./figures.js";
import { textOf } from "./panel.js";
import {
  closedAtFirst,
  namesIn,
  rowsBelow,
  type TraceNode,
  type TraceThread,
  traceThreads,
  visibleNodes,
} from "./trace-tree.js";
import { WatchPanel } from "./watch-panel.js";

/** Rows that are open at first, and most that are shown at once. */
const FIRST_ROWS = 60;

const MOST_ROWS = 1500;

/** Columns by which a level is indented, and most levels that are. */
const MOST_INDENTED = 16;

interface TraceState {
  readonly threads: readonly TraceThread[];
  readonly closed: Set<number>;
  selected: number | undefined;
}

/** The states of the trees that are shown, by their traces. */
const states = new WeakMap<Trace, TraceState>();

function stateOf(trace: Trace): TraceState {
  const known = states.get(trace);
  if (known !== undefined) return known;
  const threads = traceThreads(trace);
  const state = { threads, closed: closedAtFirst(threads, FIRST_ROWS), selected: undefined };
  states.set(trace, state);
  return state;
}

const ENDS: Partial<Record<Trace["end"], string>> = {
  limit: "It ended early, at the limit of calls.",
  stopped: "It ended when the code stopped.",
  unwound: "The code was left without a value.",
  failed: "It ended because its condition signalled an error:",
};

/** A trace as trees of calls with their times. Also for a call in the timeline. */
export function traceView(context: PageContext, trace: Trace): TemplateResult {
  const state = stateOf(trace);
  const { calls, duration, looking, end, failure } = trace;
  const note = ENDS[end];
  return html`<div class="trace">
    <p>${count(calls, "call")} in ${timeText(duration)}. Recording took ${timeText(looking)} of that.</p>
    ${note === undefined ? nothing : html`<p class="problem">${note} ${failure}</p>`}
    ${calls === 0 ? html`<p>None of the functions was called.</p>` : nothing}
    ${calls === 0 ? nothing : toolsView(context, state)}
    ${state.threads.map((thread) => threadView(context, state, thread))}
  </div>`;
}

function toolsView(context: PageContext, state: TraceState): TemplateResult {
  const all = state.threads.flatMap(({ nodes }) => visibleNodes(nodes, new Set()));
  const openAll = () => {
    state.closed.clear();
    context.update();
  };
  const closeAll = () => {
    for (const { index, children } of all) if (children.length > 0) state.closed.add(index);
    context.update();
  };
  return html`<p class="inspect-tools">
    <button class="button small" type="button" @click=${openAll}>Open all</button>
    <button class="button small" type="button" @click=${closeAll}>Close all</button>
  </p>`;
}

function threadView(context: PageContext, state: TraceState, { thread, nodes, total }: TraceThread): TemplateResult {
  const visible = visibleNodes(nodes, state.closed);
  const shown = visible.slice(0, MOST_ROWS);
  const { id, name, omitted } = thread;
  const selected = shown.find(({ index }) => index === state.selected);
  return html`<h4>Thread ${id} ${name}</h4>
    <div
      class="trace-tree"
      role="tree"
      tabindex="0"
      aria-label="Calls in thread ${id}. Arrow keys go through them, open and close them."
      aria-activedescendant=${selected === undefined ? nothing : `trace-${selected.index}`}
      @keydown=${(event: KeyboardEvent) => keyed(event, context, state, shown)}
    >
      <div class="trace-head" aria-hidden="true"><span>Call</span><span>With its calls</span><span>Itself</span></div>
      ${shown.map((node) => nodeView(context, state, node, total))}
    </div>
    ${visible.length > shown.length ? html`<p class="quiet">${count(visible.length - shown.length, "row")} more: close some calls to see them.</p>` : nothing}
    ${omitted > 0 ? html`<p class="quiet">${count(omitted, "row was", "rows were")} left out.</p>` : nothing}`;
}

function nodeView(context: PageContext, state: TraceState, node: TraceNode, whole: number): TemplateResult {
  const { index, row, children } = node;
  const isClosed = state.closed.has(index);
  const isSelected = state.selected === index;
  const toggle = () => {
    state.selected = index;
    if (children.length > 0 && !state.closed.delete(index)) state.closed.add(index);
    context.update();
  };
  const marks = `${isSelected ? " is-selected" : ""}${children.length > 0 ? " has-children" : ""}`;
  return html`<div
    id="trace-${index}"
    class="trace-row is-${row.kind}${marks} depth-${Math.min(row.depth, MOST_INDENTED)}"
    role="treeitem"
    aria-level=${row.depth + 1}
    aria-expanded=${children.length === 0 ? nothing : !isClosed}
    aria-selected=${isSelected}
    @click=${toggle}
  >
    <span class="twisty" aria-hidden="true">${children.length === 0 ? "" : isClosed ? "▸" : "▾"}</span>
    ${row.kind === "call" ? callView(row, isClosed ? rowsBelow(node) : 0, whole) : conditionView(row)}
  </div>`;
}

function callView(row: RecordedCall, hidden: number, whole: number): TemplateResult {
  const { text, values, exit, count: times, left, total, self, methods } = row;
  const value =
    exit === "left"
      ? html` <span class="unfinished">left without a value</span>`
      : exit === "open"
        ? html` <span class="unfinished">has not returned</span>`
        : values === undefined
          ? nothing
          : html` <span class="arrow">→</span> <code>${values}</code>`;
  const width = whole > 0 ? Math.min(100, (100 * total) / whole) : 0;
  const own = total > 0 ? (width * self) / total : 0;
  return html`<span class="trace-call">
      <code>${text}</code>${times > 1 ? html` <b>× ${times.toLocaleString("en")}</b>` : nothing}${value}${
        left > 0 && times > 1
          ? html` <span class="unfinished">${left.toLocaleString("en")} left without a value</span>`
          : nothing
      }${hidden > 0 ? html` <span class="quiet">+${hidden}</span>` : nothing}
      ${methods.map(({ text: method, role }) => html`<span class="method">${method} <span class="quiet">${role}</span></span>`)}
    </span>
    <span class="time" aria-label="${timeText(total)} with its calls">
      ${exit === "open" && total === 0 ? "—" : timeText(total)}
      <svg class="share" width="100%" height="4" aria-hidden="true">
        <rect width="${width}%" height="4" rx="2"></rect>
        <rect class="own" width="${own}%" height="4" rx="2"></rect>
      </svg>
    </span>
    <span class="time" aria-label="${timeText(self)} itself">${exit === "open" && total === 0 ? "—" : timeText(self)}</span>`;
}

function conditionView({ type, message, clause, handler, count: times }: RecordedCondition): TemplateResult {
  const taken =
    clause === undefined && handler === undefined
      ? "not handled"
      : `handled${clause === undefined ? "" : ` as ${clause}`}${handler === undefined ? "" : ` in ${handler}`}`;
  return html`<span class="trace-call">
    <span aria-hidden="true">⚠</span> <b>${type}</b>${times > 1 ? html` <b>× ${times}</b>` : nothing} ${message}
    <span class="quiet">${taken}</span>
  </span>`;
}

/** Goes through the rows as the pattern of trees has it. */
function keyed(event: KeyboardEvent, context: PageContext, state: TraceState, shown: readonly TraceNode[]): void {
  const place = shown.findIndex(({ index }) => index === state.selected);
  const node = shown[place];
  const go = (to: TraceNode | undefined) => {
    if (to !== undefined) state.selected = to.index;
  };
  const isClosed = node !== undefined && state.closed.has(node.index);
  const hasChildren = node !== undefined && node.children.length > 0;
  if (event.key === "ArrowDown") go(shown[place + 1]);
  else if (event.key === "ArrowUp") go(shown[Math.max(0, place - 1)]);
  else if (event.key === "Home") go(shown[0]);
  else if (event.key === "End") go(shown.at(-1));
  else if (event.key === "ArrowRight" && hasChildren) {
    if (isClosed) state.closed.delete(node.index);
    else go(node.children[0]);
  } else if (event.key === "ArrowLeft" && node !== undefined) {
    if (hasChildren && !isClosed) state.closed.add(node.index);
    else go(node.parent);
  } else if ((event.key === "Enter" || event.key === " ") && hasChildren) {
    if (!state.closed.delete(node.index)) state.closed.add(node.index);
  } else return;
  event.preventDefault();
  context.update();
  requestAnimationFrame(() => document.getElementById(`trace-${state.selected}`)?.scrollIntoView({ block: "nearest" }));
}

class TracePanel extends WatchPanel<Trace> {
  #functions = "";

  constructor() {
    super("trace", "trace-calls");
  }

  protected override problem(context: PageContext): string | undefined {
    if (context.state.server.isReadOnly) return "A trace changes functions while it lasts.";
    return namesIn(this.#functions).length === 0 ? "Name functions." : undefined;
  }

  protected override fields(context: PageContext): TemplateResult {
    if (context.state.server.isReadOnly)
      return html`<p class="quiet">This page only shows, and a trace changes functions while it lasts.</p>`;
    return html`<label class="row wide"
      >Functions
      <input
        type="text"
        spellcheck="false"
        autocomplete="off"
        placeholder="my-app:process, (setf my-app:name)"
        .value=${this.#functions}
        @input=${(event: Event) => {
          this.#functions = textOf(event);
          context.update();
        }}
    /></label>`;
  }

  protected override ask(context: PageContext, seconds: number, signal: AbortSignal): Promise<Trace> {
    return context.look("trace", { functions: namesIn(this.#functions), seconds }, signal);
  }

  protected override async ofCall(context: PageContext, call: string, signal: AbortSignal): Promise<Trace | undefined> {
    return (await context.look("call", { id: call }, signal)).trace;
  }

  protected override readonly view = traceView;
}

const panel = new TracePanel();

/** The calls of functions for some seconds, as trees with times. */
export function tracePanel(context: PageContext): TemplateResult {
  return panel.render(context);
}
