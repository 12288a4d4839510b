import { html, type TemplateResult } from "lit-html";
import type { PageEvent } from "../../src/page/model.js";
import type { PageContext } from "./context.js";
import { PromptHistory } from "./prompt-history.js";

/** Where the browser keeps over a reload what was evaluated, and what is being written. */
const STORE = "swank-prompt";

const DRAFT = "swank-draft";

const draft = sessionStorage.getItem(DRAFT) ?? "";

const history = new PromptHistory(stored());

/** Whether the next call of the person is opened in the timeline, because it was made here. */
let isExpecting = false;

function stored(): readonly string[] {
  const read: unknown = JSON.parse(sessionStorage.getItem(STORE) ?? "[]");
  return Array.isArray(read) ? read.map(String) : [];
}

/** The call that the prompt has made, if an event is its begin. */
export function callOfPrompt(event: PageEvent, isYou: (agent: string) => boolean): string | undefined {
  if (!isExpecting || event.type !== "call" || !isYou(event.call.agent)) return undefined;
  isExpecting = false;
  return event.call.id;
}

/** The line at the foot of the page in which the person evaluates in the image. */
export function promptView(context: PageContext): TemplateResult {
  const { image } = context.state;
  const submit = (event: Event) => {
    event.preventDefault();
    evaluate(context).catch(() => undefined);
  };
  return html`<form class="prompt" aria-label="Evaluate in the image" @submit=${submit}>
    <label for="prompt"><span>${shortName(image.package)}</span><b aria-hidden="true">&gt;</b></label>
    <textarea id="prompt" rows="1" spellcheck="false" autocomplete="off" autocapitalize="off"
      placeholder=${image.state === "none" ? "Evaluate Lisp here; it starts an image" : "Evaluate Lisp here, in your own session"}
      aria-label="Lisp code" aria-describedby="prompt-keys"
      .value=${draft} @input=${grow} @keydown=${(event: KeyboardEvent) => onKey(context, event)}></textarea>
    <span class="keys" id="prompt-keys"><kbd>Ctrl</kbd> <kbd>Enter</kbd></span>
    <button class="button">Evaluate</button>
  </form>`;
}

/** The name of a package as a prompt has it. */
function shortName(name = "COMMON-LISP-USER"): string {
  return name === "COMMON-LISP-USER" ? "CL-USER" : name;
}

const field = () => document.querySelector<HTMLTextAreaElement>("#prompt");

export function focusPrompt(): void {
  field()?.focus();
}

/** Makes the field as high as its text, and keeps that. */
function grow(): void {
  const area = field();
  if (area === null) return;
  sessionStorage.setItem(DRAFT, area.value);
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

async function evaluate(context: PageContext): Promise<void> {
  const area = field();
  const code = area?.value.trim() ?? "";
  if (area === null || code === "") return;
  history.add(code);
  sessionStorage.setItem(STORE, JSON.stringify(history.entries));
  isExpecting = true;
  put("");
  const reply = await context.act({ act: "evaluate", code }, { quiet: true });
  if (reply.ok) return;
  isExpecting = false;
  if (area.value === "") put(code);
  context.notify(reply.error.message, { isError: true, remedy: reply.error.remedy });
}

function put(text: string): void {
  const area = field();
  if (area === null) return;
  area.value = text;
  area.setSelectionRange(text.length, text.length);
  grow();
}

/** The arrows go through what was evaluated, on the first and the last line, so that they also move inside a text of several lines. */
function onKey(context: PageContext, event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, currentTarget: area } = event;
  if (!(area instanceof HTMLTextAreaElement) || event.isComposing) return;
  if (key === "Enter" && (ctrlKey || metaKey)) {
    event.preventDefault();
    evaluate(context).catch(() => undefined);
    return;
  }
  if (key === "Escape") area.blur();
  const isAtStart = !area.value.slice(0, area.selectionStart).includes("\n");
  const isAtEnd = !area.value.slice(area.selectionEnd).includes("\n");
  const text =
    key === "ArrowUp" && isAtStart
      ? history.earlier(area.value)
      : key === "ArrowDown" && isAtEnd
        ? history.later()
        : undefined;
  if (text === undefined) return;
  event.preventDefault();
  put(text);
}
