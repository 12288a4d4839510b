import { html, nothing, type TemplateResult } from "lit-html";
import type { Looks, PageVariable } from "../../src/page/model.js";
import { lispCode } from "./code-view.js";
import type { PageContext } from "./context.js";
import { icon } from "./icons.js";
import { Loading, loadingView } from "./loading.js";

type ObjectView = Looks["object"]["result"];
type ObjectPart = ObjectView["parts"][number];

/** Most characters of a value that are shown on its line. */
const LINE_VALUE = 400;

/** What a mark means, for a person. */
const MARKS: Readonly<Record<string, string>> = {
  argument: "argument",
  shadowed: "hidden by an inner binding",
  unavailable: "not available",
  unbound: "unbound",
  shared: "shared by all instances",
  assigned: "assigned by the closure",
  cycle: "returns here",
};

interface OpenObject {
  readonly loading: Loading<ObjectView>;
  isOpen: boolean;
}

/** A line of the tree: a variable, or a part of an object. */
interface Line {
  /** The way to it from the root, which is unique in the tree. */
  readonly path: string;
  readonly name: string;
  readonly value: string;
  readonly marks: readonly string[];
  readonly id: number | undefined;
}

/** Variables whose objects open to their parts, and these further, page by page. */
export class ObjectTree {
  readonly #objects = new Map<string, OpenObject>();

  /** Whether parts of an object are shown. */
  get hasOpen(): boolean {
    return [...this.#objects.values()].some(({ isOpen }) => isOpen);
  }

  variablesView(context: PageContext, variables: readonly PageVariable[]): TemplateResult {
    if (variables.length === 0) return html`<p class="quiet">No variables are known here.</p>`;
    const lines = variables.map(({ name, value, marks, objectId }, index) => ({
      path: `${index}`,
      name,
      value,
      marks,
      id: objectId,
    }));
    return html`<ul class="objects">${lines.map((line) => this.#lineView(context, line))}</ul>`;
  }

  #lineView(context: PageContext, line: Line): TemplateResult {
    const { path, name, value, marks, id } = line;
    const object = this.#objects.get(path);
    const isOpen = object?.isOpen === true;
    const toggle = () => id !== undefined && this.#toggle(context, path, id);
    return html`<li class=${marks.map((mark) => `is-${mark}`).join(" ")}>
      <div class="line">
        ${
          id === undefined
            ? html`<span class="twist"></span>`
            : html`<button class="twist ${isOpen ? "is-open" : ""}" aria-expanded=${isOpen ? "true" : "false"}
                aria-label="Parts of ${name}" @click=${toggle}>${icon("open")}</button>`
        }
        <span class="name">${name}</span>
        <code class="value" @dblclick=${toggle}>${lispCode(value.slice(0, LINE_VALUE))}${value.length > LINE_VALUE ? "…" : nothing}</code>
        ${marks.filter((mark) => mark !== "argument").map((mark) => html`<span class="badge">${MARKS[mark] ?? mark}</span>`)}
      </div>
      ${isOpen && object !== undefined ? loadingView(object.loading, "parts", (view) => this.#partsView(context, line, view)) : nothing}
    </li>`;
  }

  #partsView(context: PageContext, { path }: Line, { id, kind, facts, parts, count, cut }: ObjectView): TemplateResult {
    const lines = parts.map((part) => partLine(path, part));
    const left = count - parts.length;
    return html`<div class="parts">
      <p class="kind">${kind}${facts.map(({ label, text }) => html` · ${label} <code>${text}</code>`)}</p>
      ${lines.length === 0 ? nothing : html`<ul class="objects">${lines.map((line) => this.#lineView(context, line))}</ul>`}
      ${
        left > 0
          ? html`<button class="button small" @click=${() => this.#more(context, path, id)}>More parts (${left.toLocaleString("en")} left)</button>`
          : nothing
      }
      ${cut ? html`<p class="quiet">Some texts are cut, because the object is large.</p>` : nothing}
    </div>`;
  }

  #toggle(context: PageContext, path: string, id: number): void {
    const object = this.#objects.get(path);
    if (object !== undefined) {
      object.isOpen = !object.isOpen;
      context.update();
      return;
    }
    const loading = new Loading<ObjectView>(() => context.update());
    this.#objects.set(path, { loading, isOpen: true });
    loading.load((signal) => context.look("object", { id, start: 0 }, signal));
  }

  #more(context: PageContext, path: string, id: number): void {
    const loading = this.#objects.get(path)?.loading;
    const before = loading?.value;
    if (loading === undefined || before === undefined || loading.isLoading) return;
    loading.load(async (signal) => {
      const next = await context.look("object", { id, start: before.parts.length }, signal);
      return { ...next, parts: [...before.parts, ...next.parts] };
    });
  }
}

function partLine(path: string, { index, name, text, id, mark }: ObjectPart): Line {
  return { path: `${path}.${index}`, name, value: text, marks: mark === undefined ? [] : [mark], id };
}
