import { html, nothing, type TemplateResult } from "lit-html";
import type { Looks, PageFrame, PageStop } from "../../src/page/model.js";
import { lispCode, sourceView } from "./code-view.js";
import type { PageContext } from "./context.js";
import { Loading, loadingView } from "./loading.js";
import { ObjectTree } from "./object-tree.js";

type FrameResult = Looks["frame"]["result"];

interface Evaluated {
  readonly code: string;
  readonly text: string;
  readonly isError: boolean;
}

/** A frame that is open: its source, its variables, and what was evaluated in it. */
export class FrameDetail {
  readonly frame: PageFrame;
  readonly #stop: PageStop;
  readonly #loading: Loading<FrameResult>;
  #tree = new ObjectTree();
  #evaluated: readonly Evaluated[] = [];
  /** The variables may have changed since they were read, but parts of their values are open. */
  #isOld = false;

  constructor(context: PageContext, stop: PageStop, frame: PageFrame) {
    this.frame = frame;
    this.#stop = stop;
    this.#loading = new Loading(() => context.update());
    this.#load(context);
  }

  #load(context: PageContext): void {
    const { thread, level } = this.#stop;
    const frame = this.frame.index;
    this.#loading.load((signal) => context.look("frame", { thread, level, frame }, signal));
  }

  /** Reads the variables again. */
  #lookAgain(context: PageContext): void {
    this.#isOld = false;
    this.#tree = new ObjectTree();
    this.#load(context);
  }

  /** Something may have changed the variables: reads them again or, if that would close what is open, says so. */
  mayHaveChanged(context: PageContext): void {
    if (this.#tree.hasOpen) this.#isOld = true;
    else this.#lookAgain(context);
  }

  view(context: PageContext): TemplateResult {
    const { index, call } = this.frame;
    return html`<section class="frame-detail" aria-label="Frame ${index}">
      <h3 class="frame-title"><span class="number">${index}</span> <code>${lispCode(call)}</code></h3>
      ${loadingView(this.#loading, "the frame", (result) => this.#resultView(context, result))}
      ${context.canAct ? this.#evaluateView(context) : nothing}
    </section>`;
  }

  #resultView(context: PageContext, { variables, source }: FrameResult): TemplateResult {
    return html`${source === undefined ? html`<p class="quiet">The source of this frame is not known.</p>` : sourceView(source)}
      <h3>Variables <button class="button small" type="button" @click=${() => this.#lookAgain(context)}>Look again</button></h3>
      ${this.#isOld ? html`<p class="quiet">They may have changed since they were read.</p>` : nothing}
      ${this.#tree.variablesView(context, variables)}`;
  }

  #evaluateView(context: PageContext): TemplateResult {
    const { index } = this.frame;
    const submit = (event: SubmitEvent) => {
      event.preventDefault();
      const field =
        event.currentTarget instanceof HTMLFormElement ? event.currentTarget.elements.namedItem("code") : null;
      if (!(field instanceof HTMLInputElement) || field.value.trim() === "") return;
      this.#evaluate(context, field).catch(() => undefined);
    };
    return html`<h3>Evaluate in this frame</h3>
      ${this.#evaluated.map(
        ({ code, text, isError }) =>
          html`<div class="evaluated"><code>${lispCode(code)}</code><pre class=${isError ? "is-bad" : ""}>${text}</pre></div>`,
      )}
      <form class="row evaluate" @submit=${submit}>
        <input name="code" class="code" spellcheck="false" autocomplete="off" aria-label="Code to evaluate in frame ${index}"
          placeholder="Its variables can be used" />
        <button class="button">Evaluate</button>
      </form>`;
  }

  async #evaluate(context: PageContext, field: HTMLInputElement): Promise<void> {
    const { thread, level } = this.#stop;
    const code = field.value.trim();
    const what = { act: "eval-in-frame", thread, level, frame: this.frame.index, code } as const;
    const reply = await context.act(what, { quiet: true });
    const text = reply.ok ? reply.value : [reply.error.message, reply.error.remedy].filter(Boolean).join(" ");
    this.#evaluated = [...this.#evaluated, { code, text, isError: !reply.ok }].slice(-20);
    if (reply.ok) field.value = "";
    // The code may have assigned variables.
    this.#lookAgain(context);
  }
}
