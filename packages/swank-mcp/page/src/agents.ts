import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { Act, PageAgent, PageCall } from "../../src/page/model.js";
import { jsonLine, lispCode } from "./code-view.js";
import type { PageContext } from "./context.js";
import { count, elapsed, firstLine } from "./format.js";
import { type IconName, icon } from "./icons.js";
import { focusSoon } from "./roving.js";
import { isRunning } from "./timeline-filter.js";

const STATES: Readonly<Record<PageAgent["state"], readonly [icon: IconName, word: string]>> = {
  idle: ["idle", "idle"],
  running: ["running", "running"],
  stopped: ["stop", "stopped"],
  asking: ["ask", "asks you"],
  paused: ["pause", "paused"],
  out: ["out", "thrown out"],
};

type AgentAct = Extract<Act, { readonly agent: string }>["act"] & ("pause" | "resume" | "throw-out" | "let-back");

/** Whether a narrow window shows the agents whole, and not only their names and states. */
let isUnfolded = false;

/** Which agent's form is open, and which of its forms. */
let form: { readonly agent: string; readonly kind: "tell" | "throw-out" } | undefined;

/** The agents: what each does now, and how to steer it. */
export function agentsView(context: PageContext): TemplateResult {
  const agents = context.state.agents.filter(({ isYou }) => isYou !== true);
  // A form that is open stays, also when the window gets narrow.
  const isShown = isUnfolded || agents.some(({ id }) => id === form?.agent);
  const toggle = () => {
    isUnfolded = !isShown;
    form = undefined;
    context.update();
  };
  return html`<aside class="agents ${isShown ? "is-unfolded" : ""}" aria-label="Agents">
    <h2>Agents <span class="number">${agents.length}</span></h2>
    ${
      agents.length === 0
        ? html`<p class="quiet">No agent is connected. Its calls appear here as soon as it makes one.</p>`
        : html`<button class="fold" aria-expanded=${String(isShown)} aria-controls="agents" @click=${toggle}>
            <b>${count(agents.length, "agent")}</b>${agents.map(
              ({ name, state }) =>
                html`<span class="agent is-${state}">${name} <span class="state">${icon(STATES[state][0])}${STATES[state][1]}</span></span>`,
            )}${icon("open")}
          </button>
          <ul id="agents">${repeat(
            agents,
            ({ id }) => id,
            (agent) => agentView(context, agent),
          )}</ul>`
    }
  </aside>`;
}

function agentView(context: PageContext, agent: PageAgent): TemplateResult {
  const [name, word] = STATES[agent.state];
  const call = context.state.calls.findLast((each) => each.agent === agent.id);
  return html`<li class="agent is-${agent.state}">
    <h3><span class="name">${agent.name}</span> <span class="state">${icon(name)}${word}</span></h3>
    ${call === undefined ? nothing : doesView(context, call)}
    ${agent.state === "paused" && runsOn(context, agent) ? html`<p class="quiet">What it ran before still runs.</p>` : nothing}
    ${context.canAct ? steeringView(context, agent) : nothing}
  </li>`;
}

/** Whether code of a paused agent runs: calls that came before the pause go on. */
function runsOn({ state }: PageContext, { id }: PageAgent): boolean {
  return state.calls.some((call) => call.agent === id && isRunning(call) && call.waits !== true);
}

/** What it does now, or did last. */
function doesView(context: PageContext, call: PageCall): TemplateResult {
  const code = firstLine(call.code, 100);
  return html`<button class="does" @click=${() => context.openCall(call.id)} title="Open this call">
    <span class="tool">${call.tool}</span>
    ${call.waits === true ? html`<span class="time">waits (paused)</span>` : isRunning(call) ? html`<span class="time">${elapsed(Date.now() - call.begun)}</span>` : nothing}
    <code>${call.isLisp ? lispCode(code) : jsonLine(call.code)}</code>
  </button>`;
}

function steeringView(context: PageContext, agent: PageAgent): TemplateResult {
  const does = (kind: AgentAct) => () => {
    close(context);
    return context.act({ act: kind, agent: agent.id });
  };
  const opens = (kind: "tell" | "throw-out") => () => {
    form = isOpen(agent, kind) ? undefined : { agent: agent.id, kind };
    context.update();
    focusSoon(".agents .form textarea, .agents .form .button");
  };
  const button = (text: string, act: () => unknown, title: string, isExpanded?: boolean) =>
    html`<button class="button small" title=${title} aria-label="${text}: ${agent.name}" aria-expanded=${isExpanded === undefined ? nothing : String(isExpanded)}
      @click=${act}>${text}</button>`;
  return html`<div class="steering">
      ${
        agent.state === "out"
          ? button("Let back", does("let-back"), "Accept its calls again")
          : html`${
              agent.state === "paused"
                ? button("Resume", does("resume"), "Let its calls run")
                : button("Pause", does("pause"), "Its next calls wait")
            }
            ${button("Tell…", opens("tell"), "Say something to it", isOpen(agent, "tell"))}
            ${button("Throw out…", opens("throw-out"), "Abort its call, and refuse the next ones", isOpen(agent, "throw-out"))}`
      }
    </div>
    ${isOpen(agent, "tell") ? tellView(context, agent) : nothing}
    ${isOpen(agent, "throw-out") ? throwOutView(context, agent, does("throw-out")) : nothing}`;
}

const isOpen = (agent: PageAgent, kind: "tell" | "throw-out") => form?.agent === agent.id && form.kind === kind;

/** Closes the form, and goes back to the button that has opened it. */
function close(context: PageContext): void {
  if (form === undefined) return;
  form = undefined;
  document.querySelector<HTMLElement>(".steering [aria-expanded='true']")?.focus();
  context.update();
}

const closeOnEscape = (context: PageContext) => (event: KeyboardEvent) => {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  close(context);
};

function tellView(context: PageContext, agent: PageAgent): TemplateResult {
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const { currentTarget } = event;
    if (!(currentTarget instanceof HTMLFormElement)) return;
    const data = new FormData(currentTarget);
    const text = String(data.get("text")).trim();
    if (text === "") return;
    const to = data.has("all") ? {} : { agent: agent.id };
    const reply = await context.act({ act: "tell", ...to, text });
    if (reply.ok) close(context);
  };
  return html`<form class="form" @submit=${submit} @keydown=${closeOnEscape(context)}>
    <label>Text for ${agent.name}<textarea name="text" rows="3" required></textarea></label>
    <p class="quiet">The agent reads it with its next answer.</p>
    ${
      context.state.agents.length > 2
        ? html`<label class="check"><input type="checkbox" name="all" /> to all agents</label>`
        : nothing
    }
    <div class="row">
      <button class="button primary small">Send</button>
      <button class="button small" type="button" @click=${() => close(context)}>Cancel</button>
    </div>
  </form>`;
}

function throwOutView(context: PageContext, agent: PageAgent, throwOut: () => unknown): TemplateResult {
  return html`<div class="form" role="group" aria-label="Throw out ${agent.name}" @keydown=${closeOnEscape(context)}>
    <p>Throw <b>${agent.name}</b> out? Its call is aborted, and ${
      context.state.server.mode === "server"
        ? "its next calls are refused until you let it back"
        : "it loses its connection to the image. It cannot be let back here: only when its own server is started again"
    }.</p>
    <div class="row">
      <button class="button small" @click=${() => close(context)}>Cancel</button>
      <button class="button danger small" @click=${throwOut}>Throw out</button>
    </div>
  </div>`;
}
