import { html, nothing, type TemplateResult } from "lit-html";
import type { PageCall, PageCallText } from "../../src/page/model.js";
import { lispCode } from "./code-view.js";
import type { PageContext } from "./context.js";
import { clock, duration, elapsed } from "./format.js";
import { icon } from "./icons.js";
import { Loading, loadingView } from "./loading.js";
import { profileView } from "./panels/profile-panel.js";
import { traceView } from "./panels/trace-panel.js";
import { stopLink } from "./stop-link.js";
import { isRunning, outcomeWord } from "./timeline-filter.js";

/** Milliseconds between readings of a call that runs and prints. */
const READ_AGAIN = 1000;

/** The whole of the call that is open. */
export class CallDetail {
  id: string | undefined;
  #text: Loading<PageCallText> | undefined;
  /** The call as it was when its text was read last, and when that was. */
  #read: { readonly call: PageCall; readonly at: number } | undefined;

  open(id: string): void {
    if (this.id === id) return;
    this.id = id;
    this.#text = undefined;
    this.#read = undefined;
  }

  toggle(id: string): void {
    if (this.id === id) this.close();
    else this.open(id);
  }

  close(): void {
    this.#text?.stop();
    this.id = undefined;
    this.#text = undefined;
  }

  view(context: PageContext): TemplateResult | typeof nothing {
    const { id } = this;
    const call = id === undefined ? undefined : context.state.calls.findLast((each) => each.id === id);
    if (id === undefined) return nothing;
    if (call !== undefined) this.#readAgain(context, call);
    return html`<section class="detail" id="call-detail" aria-labelledby="call-title" tabindex="-1">
      <header>
        <h2 id="call-title">${call === undefined ? "Call" : html`<b>${context.nameOf(call)}</b> ${call.tool}`}</h2>
        <button class="button ghost" aria-label="Close" title="Close (Esc)" @click=${() => this.closeAndFocus(context)}>${icon("close")}</button>
      </header>
      <div class="detail-body">
        ${call === undefined ? html`<p class="quiet">This call is no longer kept.</p>` : factsView(call)}
        ${call?.stop === undefined ? nothing : stopLink(context, call.stop)}
        ${this.#text === undefined ? nothing : loadingView(this.#text, "the whole call", (text) => textView(context, text, call))}
      </div>
    </section>`;
  }

  /** Reads the text when the call has changed: at once when it ends, otherwise at most each second. */
  #readAgain(context: PageContext, call: PageCall): void {
    const { id } = call;
    const before = this.#read;
    if (before?.call === call) return;
    const now = Date.now();
    const isDue = before === undefined || call.ended !== before.call.ended || now - before.at >= READ_AGAIN;
    if (!isDue) return;
    this.#read = { call, at: now };
    this.#text ??= new Loading(() => context.update());
    const text = this.#text;
    queueMicrotask(() => text.load((signal) => context.look("call", { id }, signal)));
  }

  /** Closes it, and goes back to its row. */
  closeAndFocus(context: PageContext): void {
    this.close();
    context.update();
    requestAnimationFrame(() => document.querySelector<HTMLElement>("#calls [data-rove][tabindex='0']")?.focus());
  }
}

/** Moves the focus to the open call where that covers the list. */
export function focusCoveringDetail(): void {
  const section = document.querySelector<HTMLElement>("#call-detail");
  if (section !== null && getComputedStyle(section).position === "absolute") section.focus();
}

/** The time that a call has taken; none while its thread is stopped, because it has not ended and does not run. */
export function timeOf(call: PageCall): string {
  if (call.ended !== undefined) return duration(call.ended - call.begun);
  return isRunning(call) ? elapsed(Date.now() - call.begun) : "";
}

function factsView(call: PageCall): TemplateResult {
  const time = timeOf(call);
  return html`<dl class="facts">
    <div><dt>Outcome</dt><dd class=${call.isError === true ? "is-bad" : ""}>${outcomeWord(call)}</dd></div>
    <div><dt>Begun</dt><dd>${clock(call.begun)}</dd></div>
    ${time === "" ? nothing : html`<div><dt>Took</dt><dd>${time}</dd></div>`}
    ${call.package === undefined ? nothing : html`<div><dt>Package</dt><dd><code>${call.package}</code></dd></div>`}
  </dl>`;
}

function textView(context: PageContext, text: PageCallText, call: PageCall | undefined): TemplateResult {
  const { code, arguments: given, output, answer, profile, trace } = text;
  const isLisp = call?.isLisp === true;
  const json = JSON.stringify(given, undefined, 2);
  return html`${
    code === ""
      ? nothing
      : section(
          context,
          isLisp ? "Code" : "Arguments",
          code,
          html`<pre class="code" tabindex="0">${isLisp ? lispCode(code) : argumentLines(given, code)}</pre>`,
        )
  }
    ${json === undefined || json === "{}" || !isLisp ? nothing : html`<details><summary>Arguments</summary><pre>${json}</pre></details>`}
    ${output === "" ? nothing : section(context, "Output", output, html`<pre class="output" tabindex="0">${output}</pre>`)}
    ${
      answer.length === 0
        ? nothing
        : section(
            context,
            "Answer",
            answer.join("\n\n"),
            html`${answer.map((block) => html`<pre tabindex="0">${block}</pre>`)}`,
          )
    }
    ${profile === undefined ? nothing : html`<section><h3>Profile</h3>${profileView(context, profile)}</section>`}
    ${trace === undefined ? nothing : html`<section><h3>Trace</h3>${traceView(context, trace)}</section>`}`;
}

function argumentLines(given: unknown, code: string): string {
  return typeof given === "object" && given !== null ? JSON.stringify(given, undefined, 2) : code;
}

/** A text with its title, and a button that copies it. */
function section(context: PageContext, title: string, text: string, content: TemplateResult): TemplateResult {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => context.notify(`${title} copied.`),
      () => context.notify("The browser does not allow to copy.", { isError: true }),
    );
  return html`<section>
    <div class="section-head"><h3>${title}</h3><button class="button ghost small" aria-label="Copy: ${title}" @click=${copy}>Copy</button></div>
    ${content}
  </section>`;
}
