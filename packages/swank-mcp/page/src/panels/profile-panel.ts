import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { PageContext } from "../context.js";
import { bytes, count } from "../format.js";
import type { Profile } from "./data.js";
import { shareText, shortPath, timeText } from "./figures.js";
import {
  type Flame,
  type FlameBox,
  type FlamePackage,
  flameOf,
  matchesOf,
  neighbourOf,
  packageOf,
  packagesOf,
  placedBoxes,
} from "./flame.js";
import { textOf } from "./panel.js";
import { WatchPanel } from "./watch-panel.js";

/** The height of a row of the flame graph. */
const ROW = 22;

/** What a person looks at in a flame graph. */
interface FlameState {
  readonly flame: Flame;
  readonly packages: readonly FlamePackage[];
  zoomed: FlameBox;
  selected: FlameBox;
  search: string;
}

/** The states of the graphs that are shown, by their profiles. */
const states = new WeakMap<Profile, FlameState>();

function stateOf(profile: Profile): FlameState {
  const known = states.get(profile);
  if (known !== undefined) return known;
  const flame = flameOf(profile);
  const state = { flame, packages: packagesOf(flame), zoomed: flame.root, selected: flame.root, search: "" };
  states.set(profile, state);
  return state;
}

/** A profile: its flame graph, and a table of the functions. Also for a call in the timeline. */
export function profileView(context: PageContext, profile: Profile): TemplateResult {
  const { samples, outside, elsewhere, full, replaced, end } = profile;
  const hasFlame = profile.counts === undefined && samples > 0;
  const others = elsewhere.map(({ thread, samples: some }) => `${thread} (${some})`).join(", ");
  return html`<div class="profile">
    <p class="profile-facts">${factsOf(profile)}</p>
    ${replaced ? html`<p class="problem">The program started the profiler itself, so that these samples are lost.</p>` : nothing}
    ${full ? html`<p class="problem">It ended early, at the limit of samples.</p>` : nothing}
    ${end === "stopped" ? html`<p class="quiet">It ended when the code stopped.</p>` : nothing}
    ${hasFlame ? flameView(context, stateOf(profile), samples) : nothing}
    ${samples === 0 ? html`<p>No samples: nothing used the processor. Profile for longer, or while the program works.</p>` : nothing}
    ${outside > 0 && samples > 0 ? html`<p class="quiet">${count(outside, "sample is", "samples are")} in no function of the program.</p>` : nothing}
    ${others === "" ? nothing : html`<p class="quiet">Not counted: other threads, ${others}.</p>`}
    ${functionsView(profile)}
  </div>`;
}

function factsOf({ mode, samples, cost, counts, interval }: Profile): string {
  const spent = `${timeText(cost.real)}; ${timeText(cost.run)} of processor time, ${timeText(cost.gc)} of that in garbage collections; ${bytes(cost.bytes)} allocated`;
  if (counts !== undefined) return `${count(samples, "call")} of ${count(counts.functions, "function")} in ${spent}.`;
  const every =
    mode === "alloc" ? "one for each new region of the heap" : `one each ${timeText(interval)} of processor time`;
  return `${count(samples, "sample")}, ${every}, in ${spent}.`;
}

function flameView(context: PageContext, state: FlameState, samples: number): TemplateResult {
  const { flame, packages, zoomed, selected, search } = state;
  const colours = new Map(packages.map(({ name, colour }) => [name, colour]));
  const placed = placedBoxes(zoomed);
  const { found, samples: matching } = matchesOf(flame, search);
  const height = (Math.max(...placed.map(({ row }) => row)) + 1) * ROW;
  const select = (box: FlameBox) => {
    state.selected = box;
    context.update();
  };
  const zoom = (box: FlameBox) => {
    state.zoomed = box;
    select(box);
  };
  const isSearched = search.trim() !== "";
  return html`<figure class="flame">
    <figcaption class="inspect-tools">
      <span class="quiet">${flame.isPath ? "The calls that most samples went through; the other stacks are not known" : "Below each function is what it called; width is samples"}</span>
      <label class="row"
        >Search
        <input
          type="search"
          .value=${search}
          @input=${(event: Event) => {
            state.search = textOf(event);
            context.update();
          }}
      /></label>
      <span role="status">${isSearched ? `${count(found.size, "box", "boxes")}, ${shareText(matching, samples)} of the samples` : nothing}</span>
      ${zoomed === flame.root ? nothing : html`<button class="button small" type="button" @click=${() => zoom(flame.root)}>Show all</button>`}
    </figcaption>
    <svg
      class="boxes${isSearched ? " is-searched" : ""}"
      width="100%"
      height=${height}
      role="tree"
      aria-label="Flame graph. Arrow keys go to callers, calls and siblings; Enter zooms; Escape shows all. The table below has the functions."
      tabindex="0"
      aria-activedescendant="flame-${selected.index}"
      @keydown=${(event: KeyboardEvent) => keyed(event, state, select, zoom)}
    >
      ${placed.map(({ box, left, width, row }) =>
        boxView(
          box,
          { left, width, row },
          {
            samples,
            isSelected: box === selected,
            isFound: found.has(box),
            isAbove: row < zoomed.depth,
            colour: box.parent === undefined ? undefined : colours.get(packageOf(box.name)),
          },
          zoom,
          select,
        ),
      )}
    </svg>
    <ul class="packages" aria-label="Packages, by the samples in their own functions">
      ${packages
        .slice(0, 9)
        .map(
          ({ name, self, colour }) =>
            html`<li><svg class="swatch colour-${colour ?? "lisp"}" width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2"></rect></svg> ${name} <span class="quiet">${shareText(self, samples)}</span></li>`,
        )}
    </ul>
    <p class="flame-selected" role="status">${selectedText(selected, samples, flame)}</p>
  </figure>`;
}

function keyed(
  event: KeyboardEvent,
  state: FlameState,
  select: (box: FlameBox) => void,
  zoom: (box: FlameBox) => void,
): void {
  const next = neighbourOf(state.selected, event.key);
  if (next !== undefined) {
    // What is outside the zoomed box cannot be seen.
    if (isBelow(next, state.zoomed) || isBelow(state.zoomed, next)) select(next);
    else zoom(next);
  } else if (event.key === "Enter" || event.key === " ") zoom(state.selected);
  else if (event.key === "Escape") zoom(state.flame.root);
  else if (!event.key.startsWith("Arrow")) return;
  event.preventDefault();
}

function isBelow(box: FlameBox, above: FlameBox): boolean {
  for (let each: FlameBox | undefined = box; each !== undefined; each = each.parent) if (each === above) return true;
  return false;
}

interface BoxMarks {
  readonly samples: number;
  readonly isSelected: boolean;
  readonly isFound: boolean;
  readonly isAbove: boolean;
  readonly colour: number | undefined;
}

function boxView(
  box: FlameBox,
  { left, width, row }: { left: number; width: number; row: number },
  { samples, isSelected, isFound, isAbove, colour }: BoxMarks,
  zoom: (box: FlameBox) => void,
  select: (box: FlameBox) => void,
): TemplateResult {
  const marks = [isSelected ? " is-selected" : "", isFound ? " is-found" : "", isAbove ? " is-above" : ""].join("");
  const figures = `${shareText(box.samples, samples)}, itself ${shareText(box.self, samples)}`;
  const percent = (share: number) => `${(100 * share).toFixed(3)}%`;
  return svg`<svg x=${percent(left)} y=${row * ROW} width=${percent(width)} height=${ROW - 1} id="flame-${box.index}"
    class="box colour-${colour ?? "lisp"}${marks}" role="treeitem" aria-level=${box.depth + 1} aria-selected=${isSelected}
    aria-label="${box.name}, ${figures}" @click=${() => zoom(box)} @mouseenter=${() => select(box)}>
    <title>${box.name}: ${figures}</title>
    <rect width="100%" height="100%" rx="2"></rect>
    ${width > 0.012 ? svg`<text x="5" y="15">${box.name}</text>` : nothing}
  </svg>`;
}

function selectedText(box: FlameBox, samples: number, flame: Flame): TemplateResult {
  if (box.parent === undefined) return html`<b>${count(box.samples, "sample")}</b> in all`;
  const shown = box.children.reduce((sum, child) => sum + child.samples, 0);
  const left = flame.isPath ? 0 : box.samples - box.self - shown;
  return html`<b>${box.name}</b> ${count(box.samples, "sample")}, ${shareText(box.samples, samples)}; itself ${count(box.self, "sample")}, ${shareText(box.self, samples)}${
    left > 0 ? `; ${count(left, "sample")} in small calls that are left out` : nothing
  }${box.parent.parent === undefined ? nothing : html`; called by <b>${box.parent.name}</b>`}`;
}

function functionsView({ functions, samples, counts }: Profile): TemplateResult | typeof nothing {
  if (functions.length === 0) return nothing;
  const figure = (part: number) => (counts === undefined ? shareText(part, samples) : timeText(part));
  const most = Math.max(1, ...functions.map(({ self }) => self));
  return html`<table class="functions rows">
    <thead>
      <tr>
        <th scope="col">Function</th>
        ${counts === undefined ? nothing : html`<th scope="col">Calls</th>`}
        <th scope="col">Itself</th>
        <th scope="col">With its calls</th>
      </tr>
    </thead>
    <tbody>
      ${functions.map(
        ({ name, calls, self, cumulative, file, line }) =>
          html`<tr>
            <th scope="row" data-label="Function">
              <code>${name}</code>
              ${file === undefined ? nothing : html`<span class="path" title=${file}>${shortPath(file)}${line === undefined ? "" : `:${line}`}</span>`}
            </th>
            ${counts === undefined ? nothing : html`<td class="number" data-label="Calls">${calls?.toLocaleString("en")}</td>`}
            <td class="number" data-label="Itself">
              ${figure(self)}
              <svg class="share" width="100%" height="4" aria-hidden="true"><rect width="${(100 * self) / most}%" height="4" rx="2"></rect></svg>
            </td>
            <td class="number" data-label="With its calls">${figure(cumulative)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

class ProfilePanel extends WatchPanel<Profile> {
  #mode: "cpu" | "alloc" = "cpu";

  constructor() {
    super("profile", "profile-code");
  }

  protected override fields(context: PageContext): TemplateResult {
    return html`<label class="row"
      >What
      <select
        @change=${(event: Event) => {
          this.#mode = textOf(event) === "alloc" ? "alloc" : "cpu";
          context.update();
        }}
      >
        <option value="cpu" ?selected=${this.#mode === "cpu"}>processor time</option>
        <option value="alloc" ?selected=${this.#mode === "alloc"}>allocation</option>
      </select></label
    >`;
  }

  protected override ask(context: PageContext, seconds: number, signal: AbortSignal): Promise<Profile> {
    return context.look("profile", { seconds, mode: this.#mode }, signal);
  }

  protected override async ofCall(
    context: PageContext,
    call: string,
    signal: AbortSignal,
  ): Promise<Profile | undefined> {
    return (await context.look("call", { id: call }, signal)).profile;
  }

  protected override readonly view = profileView;
}

const panel = new ProfilePanel();

/** Where the program spends its time or allocates, as a flame graph. */
export function profilePanel(context: PageContext): TemplateResult {
  return panel.render(context);
}
