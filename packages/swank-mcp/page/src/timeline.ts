import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { repeat } from "lit-html/directives/repeat.js";
import type { PageCall } from "../../src/page/model.js";
import { CallDetail, focusCoveringDetail, timeOf } from "./call-detail.js";
import { jsonLine, lispCode } from "./code-view.js";
import type { PageContext } from "./context.js";
import { clock, count, firstLine, lastLines } from "./format.js";
import { type IconName, icon } from "./icons.js";
import { rove } from "./roving.js";
import { stopLink, stopOf } from "./stop-link.js";
import {
  FilteredCalls,
  isFiltering,
  NO_FILTER,
  OUTCOMES,
  type Outcome,
  outcomeOf,
  outcomeWord,
  TimelineWindow,
} from "./timeline-filter.js";

/** Characters of code in a row. */
const ROW_CODE = 300;

/** Pixels from the end within which a list follows its end. */
const NEAR = 24;

const ICONS: Readonly<Record<Outcome, IconName>> = { running: "running", ok: "ok", error: "bad", stopped: "stop" };

const filtered = new FilteredCalls();
const shown = new TimelineWindow();
const detail = new CallDetail();

/** The row that the Tab key reaches. */
let active: string | undefined;

/** The call that must be brought into view. */
let wanted: string | undefined;

/** Opens a call, and shows it in the list, also if the filters hide it. */
export function selectCall(id: string): void {
  detail.open(id);
  active = id;
  wanted = id;
}

/** All calls, the latest at the end, and the whole of the one that is open. */
export function timelinePanel(context: PageContext): TemplateResult {
  if (wanted !== undefined) bringIntoView(context, wanted);
  const calls = filtered.of(context.state.calls);
  const { start, rows, later } = shown.of(calls);
  return html`<div class="panel timeline">
    ${filtersView(context, calls.length)}
    <div class="split ${detail.id === undefined ? "" : "has-detail"}" @keydown=${(event: KeyboardEvent) => onKey(context, event)}>
      <div class="list" id="calls" @scroll=${() => onScroll(context, calls)}>
        ${earlierView(context, calls, start)}
        ${
          rows.length === 0
            ? emptyView(context)
            : html`<ol class="calls" aria-label="Calls" @keydown=${(event: KeyboardEvent) => onMove(context, event)}>
              ${repeat(
                rows,
                ({ id }) => id,
                (call, index) =>
                  rowView(context, call, call.id === active || (active === undefined && index === rows.length - 1)),
              )}
            </ol>`
        }
        ${laterView(context, calls, later)}
      </div>
      ${detail.view(context)}
    </div>
  </div>`;
}

function rowView(context: PageContext, call: PageCall, isActive: boolean): unknown {
  const isOpen = detail.id === call.id;
  const time = timeOf(call);
  return guard([call, isActive, isOpen, time, context.nameOf(call), stopOf(context, call.stop)], () =>
    callRow(context, call, { isActive, isOpen, time }),
  );
}

interface Row {
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly time: string;
}

function callRow(context: PageContext, call: PageCall, { isActive, isOpen, time }: Row): TemplateResult {
  const outcome = outcomeOf(call);
  const word = outcomeWord(call);
  const name = context.nameOf(call);
  const code = call.code.slice(0, ROW_CODE);
  const open = () => {
    active = call.id;
    detail.toggle(call.id);
    context.update();
    requestAnimationFrame(focusCoveringDetail);
  };
  return html`<li class="call is-${outcome} ${isOpen ? "is-open" : ""}">
    <button class="call-row" data-rove data-call=${call.id} tabindex=${isActive ? 0 : -1} aria-expanded=${isOpen ? "true" : "false"}
      aria-label="${clock(call.begun)} ${name}, ${call.tool}, ${firstLine(call.code, 80)}, ${word}, ${time}"
      @click=${open} @focus=${() => {
        active = call.id;
      }}>
      <span class="when">${clock(call.begun)}</span>
      <span class="who" title=${name}>${name}</span>
      <span class="tool">${call.tool}</span>
      <span class="outcome" title=${word}>${icon(ICONS[outcome])}<span class="word">${word}</span></span>
      <span class="time">${time}</span>
      <code class="code">${call.isLisp ? lispCode(code) : jsonLine(call.code)}</code>
    </button>
    ${notesView(context, call)}
  </li>`;
}

/** The arrows move in the list; the call beside it follows. */
function onMove(context: PageContext, event: KeyboardEvent): void {
  rove(event);
  const id = document.activeElement?.getAttribute("data-call");
  if (!event.defaultPrevented || typeof id !== "string" || detail.id === undefined) return;
  detail.open(id);
  context.update();
}

function onKey(context: PageContext, event: KeyboardEvent): void {
  if (event.key !== "Escape" || detail.id === undefined) return;
  event.preventDefault();
  detail.closeAndFocus(context);
}

/** Below the code: the end of the output, and what came of the call. */
function notesView(context: PageContext, call: PageCall): TemplateResult | typeof nothing {
  const output = lastLines(call.output, call.ended === undefined ? 6 : 2);
  const stop = call.ended === undefined ? stopOf(context, call.stop) : undefined;
  const summary = stop === undefined ? call.summary : `${stop.type}: ${firstLine(stop.message, 200)}`;
  if (output === "" && summary === undefined && call.stop === undefined) return nothing;
  return html`<div class="notes">
    ${output === "" ? nothing : html`<pre class="output" aria-label="Output">${output}</pre>`}
    ${summary === undefined ? nothing : html`<div class="summary">${call.isLisp ? summary : jsonLine(summary)}</div>`}
    ${call.stop === undefined ? nothing : stopLink(context, call.stop)}
  </div>`;
}

function earlierView(context: PageContext, calls: readonly PageCall[], start: number): TemplateResult | typeof nothing {
  const { forgotten } = context.state;
  const move = () => {
    shown.move(calls, -1);
    context.update();
  };
  return html`${
    start === 0 && forgotten > 0 && !isFiltering(filtered.filter)
      ? html`<p class="quiet edge">${count(forgotten, "earlier call")} no longer kept</p>`
      : nothing
  }${
    start > 0
      ? html`<p class="edge"><button class="button small" @click=${move}>Show earlier calls (${start.toLocaleString("en")})</button></p>`
      : nothing
  }`;
}

function laterView(context: PageContext, calls: readonly PageCall[], later: number): TemplateResult | typeof nothing {
  if (shown.isFollowing) return nothing;
  const move = () => {
    shown.move(calls, 1);
    context.update();
  };
  const end = () => {
    shown.follow();
    active = undefined;
    context.update();
  };
  return html`${
    later > 0
      ? html`<p class="edge"><button class="button small" @click=${move}>Show later calls</button></p>`
      : nothing
  }<button class="button primary small to-end" @click=${end}>
    ${later > 0 ? `${count(later, "later call")} ↓` : "Follow ↓"}
  </button>`;
}

function emptyView(context: PageContext): TemplateResult {
  if (isFiltering(filtered.filter)) {
    return html`<div class="empty"><h3>No call matches the filters</h3>
      <button class="button" @click=${() => setFilter(context, NO_FILTER)}>Clear the filters</button></div>`;
  }
  return html`<div class="empty"><h3>Nothing has happened yet</h3>
    <p>Every call of an agent appears here: its code, its output as it comes, and what came of it.</p></div>`;
}

/** Takes filters away that hide a call, and scrolls to it once it is shown. */
function bringIntoView(context: PageContext, id: string): void {
  wanted = undefined;
  const { calls } = context.state;
  if (!filtered.of(calls).some((call) => call.id === id)) filtered.set(NO_FILTER);
  const left = filtered.of(calls);
  if (left.at(-1)?.id === id) shown.follow();
  else {
    shown.hold(left);
    shown.show(left, id);
  }
  requestAnimationFrame(() => document.querySelector(".call.is-open")?.scrollIntoView({ block: "nearest" }));
}

/** The height of the list when it was last moved to its end. */
let followedHeight = 0;

/** Keeps the end in view while one follows. */
export function followEnd(): void {
  const list = document.querySelector("#calls");
  if (list === null || !shown.isFollowing) return;
  followedHeight = list.scrollHeight;
  list.scrollTop = followedHeight;
}

/** Going up stops following, and coming to the end begins again. A list that has moved because its height has changed goes back to its end. */
function onScroll(context: PageContext, calls: readonly PageCall[]): void {
  const list = document.querySelector("#calls");
  if (list === null) return;
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR;
  if (isAtEnd === shown.isFollowing) return;
  if (!isAtEnd && list.scrollHeight !== followedHeight) followEnd();
  else if (!isAtEnd) shown.hold(calls);
  else if (shown.of(calls).later === 0) shown.follow();
  context.update();
}

function setFilter(context: PageContext, change: Parameters<FilteredCalls["set"]>[0]): void {
  filtered.set(change);
  shown.follow();
  active = undefined;
  context.update();
}

function filtersView(context: PageContext, found: number): TemplateResult {
  const { agents, calls } = context.state;
  const { filter } = filtered;
  const tools = [...new Set(calls.map(({ tool }) => tool))].sort();
  const select = (label: string, key: "agent" | "tool" | "outcome", options: readonly (readonly [string, string])[]) =>
    html`<select aria-label=${label} class=${filter[key] === "" ? "" : "is-set"}
      @change=${({ currentTarget }: Event) => {
        if (currentTarget instanceof HTMLSelectElement) setFilter(context, { [key]: currentTarget.value });
      }}>
      <option value="" ?selected=${filter[key] === ""}>${label}: all</option>
      ${options.map(([value, text]) => html`<option value=${value} ?selected=${filter[key] === value}>${text}</option>`)}
    </select>`;
  return html`<div class="toolbar" role="search" aria-label="Filter calls">
    <input type="search" id="filter" placeholder="Filter" aria-label="Filter by text" .value=${filter.text}
      @input=${({ currentTarget }: Event) => {
        if (currentTarget instanceof HTMLInputElement) setFilter(context, { text: currentTarget.value });
      }} />
    ${select(
      "Agent",
      "agent",
      agents.map(({ id }) => [id, context.nameOf({ agent: id })]),
    )}
    ${select(
      "Tool",
      "tool",
      tools.map((tool) => [tool, tool]),
    )}
    ${select(
      "Outcome",
      "outcome",
      OUTCOMES.map((outcome) => [outcome, outcome]),
    )}
    <span class="quiet found">${isFiltering(filter) ? `${found} of ${calls.length}` : count(calls.length, "call")}</span>
  </div>`;
}
