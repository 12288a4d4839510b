import { html, nothing, type TemplateResult } from "lit-html";
import type { Act, PageReply } from "../../../src/page/model.js";
import { tokenView } from "../code-view.js";
import type { PageContext } from "../context.js";
import { count } from "../format.js";
import { lispLines, type Token } from "../lisp-tokens.js";
import { Loading, loadingView } from "../loading.js";
import {
  changeKey,
  type DiffGap,
  type DiffLine,
  diffLines,
  newKeys,
  readSeen,
  type Seen,
  seenOf,
  textsOf,
  withGaps,
} from "./change-diff.js";
import type { Change, ChangeState, Changes, FileState, FoundChanges } from "./data.js";
import { shortPath } from "./figures.js";
import { Repeater } from "./panel.js";

const ID = "changes-panel";

const REFRESH_SECONDS = 15;

/** Where the browser keeps what the person has seen. */
const SEEN_KEY = "swank-mcp/seen-changes";

const STATES: Record<ChangeState, string> = {
  "image-only": "only in the image",
  differs: "differs from its file",
  conflict: "changed in the image and in its file",
  changed: "changed in its file since it was loaded",
  "maybe-changed": "perhaps changed in its file",
  new: "new in its file",
  deleted: "deleted from its file",
  "file-only": "no longer in the image",
  uncompared: "in no file with this text",
};

/** The states of definitions that were evaluated, which can be saved or undone. */
const EVALUATED: readonly ChangeState[] = ["image-only", "differs", "conflict"];

const FILES: Record<FileState["state"], string> = {
  compared: "",
  guessed: "compared by the lengths of forms only, because the loaded text is not recorded",
  failed: "not compared, because it was not loaded to its end",
  unloaded: "not compared, because nothing shows that it was ever loaded",
  undated: "not compared, because its date does not show whether it has changed",
  unreadable: "not compared, because not all of it can be read",
};

type Deed = "undo" | "save";

class ChangesPanel {
  #context: PageContext | undefined;
  readonly #repeater = new Repeater(ID);
  readonly #changes = new Loading<Changes>(() => this.#context?.update());
  /** What was seen before the panel was opened. */
  #seen: Seen | undefined;
  #ended = "";
  readonly #open = new Map<string, boolean>();
  /** The deed that waits for a confirmation, or the outcome of the last one, by definition. */
  readonly #asked = new Map<string, Deed>();
  readonly #outcomes = new Map<string, PageReply<string>>();

  render(context: PageContext): TemplateResult {
    this.#context = context;
    this.#repeater.rendered(
      REFRESH_SECONDS,
      () => {
        this.#seen = readSeen(keptText());
        this.#refresh(context);
      },
      () => this.#refresh(context),
    );
    this.#followCalls(context);
    return html`<div id=${ID} class="panel inspect">
      <div class="toolbar">
        <button class="button small" type="button" ?disabled=${this.#changes.isLoading} @click=${() => this.#refresh(context)}>Look again</button>
      </div>
      <div class="inspect-body">
      ${loadingView(this.#changes, "changes", (changes) => this.#view(context, changes))}</div>
    </div>`;
  }

  #refresh(context: PageContext): void {
    if (this.#changes.isLoading) return;
    this.#changes.load(async (signal) => {
      const changes = await context.look("changes", {}, signal);
      if (changes.status === "found") this.#keepSeen(changes.changes);
      return changes;
    });
  }

  /** Looks again when a call has ended, which may have defined something. */
  #followCalls(context: PageContext): void {
    const last = context.state.calls.findLast(({ ended }) => ended !== undefined);
    const ended = `${last?.id} ${last?.ended}`;
    if (ended === this.#ended || this.#changes.isLoading) return;
    this.#ended = ended;
    if (this.#changes.value !== undefined) queueMicrotask(() => this.#refresh(context));
  }

  /** Remembers that the person has seen the changes. Until the panel is opened again, they stay marked. */
  #keepSeen(changes: readonly Change[]): void {
    try {
      localStorage.setItem(SEEN_KEY, JSON.stringify(seenOf(changes)));
    } catch {
      // Without storage, nothing is marked at the next visit.
    }
  }

  #view(context: PageContext, changes: Changes): TemplateResult {
    if (changes.status !== "found") return html`<p class="problem" role="alert">A file is not found.</p>`;
    const { changes: all, leftOut, files, assigned } = changes;
    const news = newKeys(all, this.#seen);
    const sorted = [...all].sort((one, other) => Number(news.has(changeKey(other))) - Number(news.has(changeKey(one))));
    return html`
      <p class="inspect-tools" role="status">
        <span>${all.length === 0 ? "Image and files agree." : count(all.length, "definition differs", "definitions differ")}${news.size > 0 ? html`, <strong>${news.size} since you last looked</strong>` : nothing}${leftOut > 0 ? `; ${leftOut} more are not listed` : nothing}</span>
        ${
          news.size > 0
            ? html`<button class="button small" type="button"
              @click=${() => {
                this.#seen = seenOf(all);
                context.update();
              }}
            >
              Mark all as seen
            </button>`
            : nothing
        }
      </p>
      ${sorted.map((change) => this.#change(context, change, news.has(changeKey(change)), all.length))}
      ${assignedView(assigned)} ${filesView(files)}
    `;
  }

  #change(context: PageContext, change: Change, isNew: boolean, total: number): TemplateResult {
    const key = changeKey(change);
    const { kind, name, file, line, state } = change;
    const isOpen = this.#open.get(key) ?? (isNew || total <= 8);
    const place =
      file === undefined
        ? nothing
        : html`<span class="path" title=${file}>${shortPath(file)}${line === undefined ? "" : `:${line}`}</span>`;
    return html`<details
      class="change is-${state}${isNew ? " is-new" : ""}"
      .open=${isOpen}
      @toggle=${({ currentTarget }: Event) => {
        if (currentTarget instanceof HTMLDetailsElement) this.#open.set(key, currentTarget.open);
      }}
    >
      <summary>
        ${isNew ? html`<span class="new-mark">new</span> ` : nothing}${kind === "method" ? nothing : html`<span class="kind">${(kind ?? "form").replaceAll("-", " ")}</span>`}
        <b>${name}</b> ${place}
        <span class="quiet">${STATES[state]}</span>
      </summary>
      ${diffView(change)} ${this.#deeds(context, change, key)}
    </details>`;
  }

  #deeds(context: PageContext, change: Change, key: string): TemplateResult | typeof nothing {
    const outcome = this.#outcomes.get(key);
    const result = outcome === undefined ? nothing : outcomeView(outcome);
    const { kind, state, name, file } = change;
    if (!context.canAct || kind === undefined || !EVALUATED.includes(state)) return html`${result}`;
    const asked = this.#asked.get(key);
    const ask = (deed: Deed | undefined) => {
      if (deed === undefined) this.#asked.delete(key);
      else this.#asked.set(key, deed);
      context.update();
    };
    if (asked !== undefined) {
      const what = asked === "save" ? `Write ${name} to ${file ?? "its file"}?` : undoText(name, file);
      return html`<p class="deeds is-asked" role="group" aria-label=${what}>
        <span>${what}</span>
        <button class="button small primary" type="button" @click=${() => this.#do(context, { act: asked, kind, name, ...(file === undefined ? {} : { file }) }, key)}>
          ${asked === "save" ? "Save" : "Undo"}
        </button>
        <button class="button small" type="button" @click=${() => ask(undefined)}>Cancel</button>
      </p>`;
    }
    return html`<p class="deeds">
        <button class="button small" type="button" aria-label="Undo ${name}" @click=${() => ask("undo")}>Undo…</button>
        ${file === undefined ? html`<span class="quiet">No file defines it.</span>` : html`<button class="button small" type="button" aria-label="Save ${name}" @click=${() => ask("save")}>Save to file…</button>`}
      </p>
      ${result}`;
  }

  async #do(context: PageContext, act: Act, key: string): Promise<void> {
    this.#asked.delete(key);
    this.#outcomes.set(key, await context.act(act, { quiet: true }));
    context.update();
    this.#refresh(context);
  }
}

function undoText(name: string, file: string | undefined): string {
  return file === undefined
    ? `Remove ${name} from the image? No file defines it, so nothing takes its place.`
    : `Undo the definition of ${name} in the image? The form of the file is evaluated again.`;
}

function keptText(): string | null {
  try {
    return localStorage.getItem(SEEN_KEY);
  } catch {
    return null;
  }
}

function outcomeView(outcome: PageReply<string>): TemplateResult {
  return outcome.ok
    ? html`<p class="done" role="status">${outcome.value}</p>`
    : html`<p class="problem" role="alert"><b>${outcome.error.code}</b> ${outcome.error.message} ${outcome.error.remedy}</p>`;
}

/** Words for each kind of line, for those who do not see its colour. */
const SIGNS = { same: " ", added: "+", removed: "−" } as const;

function diffView(change: Change): TemplateResult {
  const texts = textsOf(change);
  if (texts === undefined) return html`<p class="quiet">Its text is not known.</p>`;
  const { before, after, names } = texts;
  const lines = diffLines(before, after);
  const isWhole = lines.every(({ kind }) => kind !== "removed") || lines.every(({ kind }) => kind !== "added");
  const [old, now] = names;
  const tokensOf = tokensIn(lines);
  return html`<p class="diff-legend quiet">
      ${isWhole && before === "" ? nothing : html`<span class="is-removed">− ${old}</span>`}
      ${isWhole && after === "" ? nothing : html`<span class="is-added">+ ${now}</span>`}
    </p>
    <div class="diff" tabindex="0" role="group" aria-label="Difference of ${change.name}">
      <table>
        <tbody>
          ${withGaps(lines).map((line) => lineView(line, tokensOf))}
        </tbody>
      </table>
    </div>`;
}

/** The colours of lines. Those of each text are found together, because a string or comment may have several lines. */
function tokensIn(lines: readonly DiffLine[]): (line: DiffLine) => readonly Token[] {
  const tokens = new Map<DiffLine, readonly Token[]>();
  for (const left of ["added", "removed"]) {
    const text = lines.filter(({ kind }) => kind !== left);
    for (const [index, some] of lispLines(text.map((line) => line.text)).entries()) {
      const line = text[index];
      if (line !== undefined) tokens.set(line, some);
    }
  }
  return (line) => tokens.get(line) ?? [{ kind: "plain", text: line.text }];
}

function lineView(line: DiffLine | DiffGap, tokensOf: (line: DiffLine) => readonly Token[]): TemplateResult {
  if (line.kind === "gap") {
    return html`<tr class="gap"><td colspan="4">${count(line.lines, "unchanged line")}</td></tr>`;
  }
  const { kind, before, after } = line;
  return html`<tr class="is-${kind}"><td class="number">${before}</td><td class="number">${after}</td><td class="sign">${SIGNS[kind]}</td><td><code>${tokensOf(line).map(tokenView)}</code></td></tr>`;
}

function assignedView(assigned: FoundChanges["assigned"]): TemplateResult | typeof nothing {
  if (assigned.length === 0) return nothing;
  return html`<h3>Variables that you have set here</h3>
    <table class="rows">
      <thead><tr><th scope="col">Variable</th><th scope="col">Value</th><th scope="col">Defined in</th></tr></thead>
      <tbody>
        ${assigned.map(
          ({ name, value, file }) =>
            html`<tr>
              <th scope="row" data-label="Variable">${name}</th>
              <td data-label="Value"><code>${value}</code></td>
              <td data-label="Defined in" title=${file ?? nothing}>${file === undefined ? "no file" : shortPath(file)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

function filesView(files: readonly FileState[]): TemplateResult | typeof nothing {
  const doubtful = files.filter(({ state }) => state !== "compared");
  if (doubtful.length === 0) return nothing;
  return html`<h3>Files with doubts</h3>
    <ul class="files">
      ${doubtful.map(({ file, state }) => html`<li><span class="path" title=${file}>${shortPath(file)}</span>: ${FILES[state]}</li>`)}
    </ul>`;
}

const panel = new ChangesPanel();

/** The definitions that differ from their files, as diffs. */
export function changesPanel(context: PageContext): TemplateResult {
  return panel.render(context);
}
