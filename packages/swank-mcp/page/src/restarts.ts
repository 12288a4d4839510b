import { html, nothing, type TemplateResult } from "lit-html";
import type { PageStop } from "../../src/page/model.js";
import type { PageContext } from "./context.js";
import { icon } from "./icons.js";
import { focusSoon } from "./roving.js";

type Restart = PageStop["restarts"][number];

/** Most fields for values of one restart. */
const MOST_VALUES = 8;

/** The restarts of a stop as buttons, with the numbers that agents use. One that takes values opens to fields for them. */
export class Restarts {
  #open: { readonly index: number; count: number } | undefined;
  #isBusy = false;

  view(context: PageContext, stop: PageStop): TemplateResult {
    if (stop.restarts.length === 0) return html`<p class="quiet">It offers no restarts.</p>`;
    return html`<h3>Restarts</h3><ol class="restarts" aria-label="Restarts">
      ${stop.restarts.map((restart) => this.#restartView(context, stop, restart))}
    </ol>`;
  }

  #restartView(context: PageContext, stop: PageStop, restart: Restart): TemplateResult {
    const { index, name, description } = restart;
    const text = html`<span class="number">${index + 1}</span><span class="name">${name === "" ? "(unnamed)" : name}</span
      ><span class="description" title=${description}>${description}</span>`;
    if (!context.canAct) return html`<li><div class="restart">${text}</div></li>`;
    const takes = valuesOf(restart);
    const isOpen = this.#open?.index === index;
    const open = () => {
      this.#open = isOpen ? undefined : { index, count: Math.max(1, takes.min) };
      context.update();
      focusSoon(".restarts input");
    };
    const click = takes.min > 0 ? open : () => this.#invoke(context, stop, index, []);
    return html`<li class=${isOpen ? "is-open" : ""}>
      <button class="restart" ?disabled=${this.#isBusy} aria-expanded=${takes.min > 0 ? String(isOpen) : nothing} @click=${click}>
        ${text}${takes.min > 0 ? icon("open") : nothing}
      </button>
      ${
        takes.min === 0 && takes.max > 0
          ? html`<button class="button ghost small" aria-expanded=${String(isOpen)} aria-label="Invoke ${name} with values"
              @click=${open}>with values…</button>`
          : nothing
      }
      ${isOpen ? this.#valuesView(context, stop, restart) : nothing}
    </li>`;
  }

  #valuesView(context: PageContext, stop: PageStop, restart: Restart): TemplateResult {
    const count = this.#open?.count ?? 1;
    const { max } = valuesOf(restart);
    const submit = (event: SubmitEvent) => {
      event.preventDefault();
      if (!(event.currentTarget instanceof HTMLFormElement)) return;
      const values = new FormData(event.currentTarget).getAll("value").map(String);
      return this.#invoke(context, stop, restart.index, values);
    };
    const add = () => {
      this.#open = { index: restart.index, count: count + 1 };
      context.update();
    };
    const cancel = (event: Event) => {
      event.stopPropagation();
      this.#open = undefined;
      context.update();
    };
    return html`<form class="form" @submit=${submit} @keydown=${(event: KeyboardEvent) => event.key === "Escape" && cancel(event)}>
      ${Array.from(
        { length: count },
        (_, index) => html`<input class="code" name="value" required spellcheck="false" autocomplete="off"
          aria-label="Value ${index + 1} for ${restart.name}" placeholder="Lisp expression" />`,
      )}
      <div class="row">
        <button class="button primary small" ?disabled=${this.#isBusy}>Invoke ${restart.name}</button>
        ${count < Math.min(max, MOST_VALUES) ? html`<button class="button small" type="button" @click=${add}>Another value</button>` : nothing}
        <button class="button small" type="button" @click=${cancel}>Cancel</button>
      </div>
    </form>`;
  }

  async #invoke(context: PageContext, stop: PageStop, index: number, values: readonly string[]): Promise<void> {
    this.#isBusy = true;
    context.update();
    const reply = await context.act({ act: "restart", thread: stop.thread, level: stop.level, index, values });
    this.#isBusy = false;
    if (reply.ok) this.#open = undefined;
    context.update();
  }
}

/** How many values it takes at least, and at most. Where Lisp does not know, any number. */
function valuesOf({ arguments: takes }: Restart): { readonly min: number; readonly max: number } {
  return takes === undefined ? { min: 0, max: MOST_VALUES } : { min: takes.min, max: takes.max ?? MOST_VALUES };
}
