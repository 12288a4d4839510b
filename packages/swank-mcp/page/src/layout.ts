import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { PageState } from "../../src/page/model.js";
import { agentsView } from "./agents.js";
import type { App } from "./app.js";
import { PANELS, type PageContext, type PanelName } from "./context.js";
import { headView } from "./head.js";
import { icon } from "./icons.js";
import { keysView, showKeys } from "./keys.js";
import { changesPanel } from "./panels/changes-panel.js";
import { heapPanel } from "./panels/heap-panel.js";
import { profilePanel } from "./panels/profile-panel.js";
import { threadsPanel } from "./panels/threads-panel.js";
import { tracePanel } from "./panels/trace-panel.js";
import { promptView } from "./prompt.js";
import { questionsView } from "./questions.js";
import { rove } from "./roving.js";
import { stopsPanel } from "./stops.js";
import { timelinePanel } from "./timeline.js";

/** The words of the tabs, and what shows each panel. */
const TABS: Readonly<Record<PanelName, readonly [title: string, panel: (context: PageContext) => TemplateResult]>> = {
  timeline: ["Timeline", timelinePanel],
  stops: ["Stops", stopsPanel],
  threads: ["Threads", threadsPanel],
  changes: ["Changes", changesPanel],
  heap: ["Heap", heapPanel],
  profile: ["Profile", profilePanel],
  trace: ["Trace", tracePanel],
};

/** The whole page. */
export function pageView(app: App): TemplateResult {
  const { state } = app;
  return html`${headView(state, app.connection.state, showKeys)}
    ${state === undefined ? html`<main class="empty"><p>Connecting…</p></main>${noticesView(app)}` : bodyView(app, state)}
    <div class="unseen" aria-live="assertive">${app.announcement}</div>
    ${keysView()}`;
}

function bodyView(app: App, state: PageState): TemplateResult {
  const context = app.context(state);
  const [title, panel] = TABS[app.panel];
  return html`<div class="body">
    ${agentsView(context)}
    <main>
      ${questionsView(context)}
      ${tabsView(app, state)}
      <section class="tab-panel" role="tabpanel" id="panel" aria-label=${title}>${panel(context)}</section>
    </main>
  </div>
  ${noticesView(app)}
  ${state.server.isReadOnly ? nothing : promptView(context)}`;
}

function tabsView(app: App, state: PageState): TemplateResult {
  return html`<nav aria-label="Panels"><div class="tabs" role="tablist" @keydown=${rove}>
    ${PANELS.map((name) => {
      const isOpen = app.panel === name;
      const stops = name === "stops" ? state.stops.length : 0;
      return html`<button class="tab" role="tab" data-rove id="tab-${name}" aria-selected=${String(isOpen)} aria-controls="panel"
        tabindex=${isOpen ? 0 : -1} @click=${() => app.open(name)}>
        ${TABS[name][0]}${stops > 0 ? html`<span class="number is-stop">${stops}</span>` : nothing}
      </button>`;
    })}
  </div></nav>`;
}

const NOTICE_ICONS = { ok: "ok", news: "idle", error: "bad" } as const;

/** Notices have a place of their own above the prompt, so that they cover nothing in which the person writes or reads. */
function noticesView(app: App): TemplateResult {
  return html`<div class="notices" role="status">
    ${repeat(
      app.notices,
      ({ id }) => id,
      ({ id, text, kind, remedy }) => html`<div class="notice is-${kind}">
        ${icon(NOTICE_ICONS[kind])}<p>${text}${remedy === undefined ? nothing : html`<br /><span class="quiet">${remedy}</span>`}</p>
        <button class="button ghost" aria-label="Close" @click=${() => app.dismiss(id)}>${icon("close")}</button>
      </div>`,
    )}
  </div>`;
}
