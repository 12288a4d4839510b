import { html, nothing, type TemplateResult } from "lit-html";
import type { PageStop } from "../../src/page/model.js";
import type { PageContext } from "./context.js";
import { icon } from "./icons.js";

/** The way to a stop, as long as the thread stands there. */
export function stopLink(context: PageContext, name: string): TemplateResult | typeof nothing {
  const stop = stopOf(context, name);
  return stop === undefined
    ? nothing
    : html`<button class="button small" @click=${() => context.openStop(stop.thread, stop.level)}>${icon("stop")}Open stop ${name}</button>`;
}

/** The stop to which a call has led, while the thread stands there. */
export function stopOf({ state }: PageContext, name: string | undefined): PageStop | undefined {
  return state.stops.find(({ thread, level }) => `${thread}/${level}` === name);
}
