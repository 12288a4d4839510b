import { html, nothing, render } from "lit-html";
import type { PageState } from "../../../src/page/model.js";
import type { PageContext } from "../context.js";
import { stopsPanel } from "../stops.js";
import { Host, type ToolResult } from "./host.js";
import { type Shown, StopTools } from "./stop-tools.js";

/** Milliseconds between showings of the time that has passed. */
const TICK = 10_000;

const STATE: PageState = {
  server: { version: "", mode: "server", isReadOnly: false, epoch: "" },
  image: { state: "open" },
  agents: [],
  calls: [],
  forgotten: 0,
  stops: [],
  questions: [],
};

let shown: Shown | undefined;
let problem: string | undefined;
let isWanted = false;

function update(): void {
  if (isWanted) return;
  isWanted = true;
  requestAnimationFrame(() => {
    isWanted = false;
    render(view(), document.body);
  });
}

async function show(result: ToolResult): Promise<void> {
  try {
    shown = await tools.read(result);
    problem = undefined;
  } catch (error) {
    problem = String(error);
  }
  update();
}

const host = new Host({
  onResult: (result) => void show(result),
  onCancelled: () => {
    shown = { kind: "end", title: "Cancelled", text: "", isError: false };
    update();
  },
});

const tools = new StopTools(host, (result) => void show(result));

const context: Omit<PageContext, "state"> = {
  canAct: true,
  nameOf: () => "",
  look: tools.look,
  act: async (what, { quiet = false } = {}) => {
    problem = undefined;
    const reply = await tools.act(what);
    if (!reply.ok && !quiet) problem = reply.error.message;
    update();
    return reply;
  },
  notify: (text) => {
    problem = text;
    update();
  },
  update,
  open: () => undefined,
  openCall: () => undefined,
  openStop: () => undefined,
};

function view() {
  return html`${problem === undefined ? nothing : html`<p class="problem" role="alert">${problem}</p>`}${shownView()}`;
}

function shownView() {
  if (shown === undefined) return html`<p class="quiet waiting" role="status">Waiting for the answer…</p>`;
  if (shown.kind === "stop") return stopsPanel({ ...context, state: { ...STATE, stops: [shown.stop] } });
  const { title, text, isError } = shown;
  return html`<section class="end"><h2 class=${isError ? "is-bad" : ""}>${title}</h2><pre>${text}</pre></section>`;
}

/** A frame without the permission for forms blocks their submission, and tells nobody. An event that a script sends is no submission. */
function submit(event: Event, form: HTMLFormElement): void {
  event.preventDefault();
  if (form.reportValidity()) form.dispatchEvent(new SubmitEvent("submit", { cancelable: true }));
}

addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (button?.form && button.type === "submit") submit(event, button.form);
});
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (key === "Enter" && target instanceof HTMLInputElement && target.form !== null) submit(event, target.form);
});

update();
setInterval(() => shown?.kind === "stop" && update(), TICK);
void host.begin();
