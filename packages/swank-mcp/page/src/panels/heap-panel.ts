import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { PageContext } from "../context.js";
import { bytes, clock, count, elapsed } from "../format.js";
import { Loading, loadingView } from "../loading.js";
import type { HeapSummary } from "./data.js";
import { growthText, shareText, timeText } from "./figures.js";
import {
  type Chart,
  type ChartMode,
  chartOf,
  type HeapSample,
  seriesOf,
  type TypeSeries,
  withSample,
} from "./heap-series.js";
import { numberOf, Repeater } from "./panel.js";

const ID = "heap-panel";

/** The times between two samples to choose from, in seconds; 0 for none. */
const PACES = [5, 15, 60, 0] as const;

/** The width of the chart until that of the panel is known, and the least and most. */
const USUAL_WIDTH = 640;

const LEAST_WIDTH = 260;

const MOST_WIDTH = 1000;

const HEIGHT = 230;

/** Room around the lines, for the values and times. */
const LEFT = 70;

const RIGHT = 8;

const TOP = 10;

const BOTTOM = 24;

/** Most lines in the chart. */
const LINES = 6;

class HeapPanel {
  #context: PageContext | undefined;
  readonly #repeater = new Repeater(ID);
  readonly #heap = new Loading<HeapSummary>(() => this.#context?.update());
  #samples: readonly HeapSample[] = [];
  #pace = 15;
  #mode: ChartMode = "bytes";
  /** The type whose line is pointed out. */
  #type: string | undefined;

  render(context: PageContext): TemplateResult {
    this.#context = context;
    this.#repeater.rendered(
      1,
      () => this.#tick(context),
      () => this.#tick(context),
    );
    return html`<div id=${ID} class="panel inspect">
      <div class="toolbar">
        <label class="row"
          >Sample
          <select
            @change=${(event: Event) => {
              this.#pace = numberOf(event, 0, 3600, 15);
              context.update();
            }}
          >
            ${PACES.map((pace) => html`<option value=${pace} ?selected=${pace === this.#pace}>${pace === 0 ? "by hand" : `every ${pace} s`}</option>`)}
          </select></label
        >
        <button class="button small" type="button" ?disabled=${this.#heap.isLoading} @click=${() => this.#sample(context)}>Sample now</button>
        ${
          this.#samples.length > 1
            ? html`<button class="button small" type="button"
              @click=${() => {
                this.#samples = this.#samples.slice(-1);
                context.update();
              }}
            >
              Begin again
            </button>`
            : nothing
        }
      </div>
      <div class="inspect-body">
      ${loadingView(this.#heap, "heap", (summary) => this.#view(context, summary))}</div>
    </div>`;
  }

  #tick(context: PageContext): void {
    const last = this.#samples.at(-1)?.time ?? 0;
    const isDue = this.#samples.length === 0 || (this.#pace > 0 && Date.now() - last >= this.#pace * 1000);
    if (isDue && this.#heap.error === undefined) this.#sample(context);
  }

  #sample(context: PageContext): void {
    if (this.#heap.isLoading) return;
    this.#heap.load(async (signal) => {
      const summary = await context.look("heap", {}, signal);
      this.#samples = withSample(this.#samples, { time: Date.now(), summary });
      return summary;
    });
  }

  #view(context: PageContext, summary: HeapSummary): TemplateResult {
    const { used, size, bytes: counted, objects, walk, gc, collected, complete, typeCount, types: rows } = summary;
    const series = seriesOf(this.#samples);
    const room = (document.getElementById(ID)?.clientWidth ?? USUAL_WIDTH) - 20;
    const width = Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, room));
    const chart = chartOf(series, this.#mode, {
      width: width - LEFT - RIGHT,
      height: HEIGHT - TOP - BOTTOM,
      lines: LINES,
    });
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const cost = `Looking took ${timeText(walk + gc)}${collected === "yes" ? ", with a collection of all garbage" : ""}.`;
    return html`
      <p class="heap-use">
        <span><b>${bytes(used)}</b> of ${bytes(size)} in use (${shareText(used, size)})${last === undefined ? nothing : html` at ${clock(last.time)}`}</span>
        <meter min="0" max=${size} high=${size * 0.8} value=${used} aria-label="Heap in use">${shareText(used, size)}</meter>
        <span class="quiet">${count(objects, "object")}, ${bytes(counted)}${collected === "no" ? ", garbage included" : nothing}. ${cost}</span>
      </p>
      ${complete ? nothing : html`<p class="problem" role="alert">The heap is too large to be counted in 5 seconds: objects are missing.</p>`}
      ${this.#chart(context, chart, width, first, last)}
      ${this.#table(context, series, chart)}
      ${typeCount > rows.length ? html`<p class="quiet">The ${rows.length} types with the most bytes, of ${typeCount}.</p>` : nothing}
    `;
  }

  #chart(
    context: PageContext,
    chart: Chart,
    width: number,
    first: HeapSample | undefined,
    last: HeapSample | undefined,
  ): TemplateResult {
    const modes: readonly (readonly [ChartMode, string])[] = [
      ["bytes", "Bytes"],
      ["growth", "Growth"],
    ];
    return html`<figure class="heap-chart">
      <figcaption>
        <span>${this.#samples.length > 1 ? `${count(this.#samples.length, "sample")} in ${elapsed(chart.seconds * 1000)}` : "One sample so far; the lines begin with the next one"}</span>
        <span class="chart-modes" role="group" aria-label="What the chart shows">
          ${modes.map(
            ([mode, label]) =>
              html`<button class="button small" type="button"
                aria-pressed=${mode === this.#mode}
                @click=${() => {
                  this.#mode = mode;
                  context.update();
                }}
              >
                ${label}
              </button>`,
          )}
        </span>
      </figcaption>
      ${chartView(chart, width, this.#mode, this.#type, first, last)}
    </figure>`;
  }

  #table(context: PageContext, series: readonly TypeSeries[], chart: Chart): TemplateResult {
    const most = Math.max(1, ...series.map(({ bytes: size }) => size));
    const minutes = chart.seconds / 60;
    const point = (name: string | undefined) => () => {
      this.#type = name;
      context.update();
    };
    return html`<table class="heap rows">
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col">Objects</th>
          <th scope="col">Bytes</th>
          <th scope="col">Growth</th>
          <th scope="col">A minute</th>
        </tr>
      </thead>
      <tbody>
        ${series.map(({ name, count: objects, bytes: size, growth, countGrowth }) => {
          const line = chart.lines.findIndex(({ series: { name: each } }) => each === name);
          return html`<tr
            class=${name === this.#type ? "is-pointed" : ""}
            @mouseenter=${point(name)}
            @mouseleave=${point(undefined)}
          >
            <th scope="row" data-label="Type">
              <svg class="swatch${line < 0 ? "" : ` line-${line}`}" width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2"></rect></svg>
              <code>${name}</code>
            </th>
            <td class="number" data-label="Objects">${objects.toLocaleString("en")}</td>
            <td class="number" data-label="Bytes">
              ${bytes(size)}
              <svg class="share" width="100%" height="4" aria-hidden="true"><rect width="${(100 * size) / most}%" height="4" rx="2"></rect></svg>
            </td>
            <td class="number growth${growth > 0 ? " is-more" : ""}" data-label="Growth" title=${countGrowth === 0 ? nothing : `${countGrowth > 0 ? "+" : "−"}${count(Math.abs(countGrowth), "object")}`}>${growthText(growth)}</td>
            <td class="number" data-label="A minute">${minutes > 0.15 ? growthText(Math.round(growth / minutes)) : ""}</td>
          </tr>`;
        })}
      </tbody>
    </table>`;
  }
}

function chartView(
  { lines, ticks }: Chart,
  width: number,
  mode: ChartMode,
  pointed: string | undefined,
  first: HeapSample | undefined,
  last: HeapSample | undefined,
): TemplateResult {
  const what = mode === "bytes" ? "Bytes of the largest types over time" : "Growth of the types that changed the most";
  const place = (x: number, y: number) => `translate(${LEFT + x} ${TOP + y})`;
  const isAlone = first === last;
  return html`<svg width=${width} height=${HEIGHT} role="img" aria-label="${what}. The table below has the figures.">
    ${ticks.map(
      ({ value, y }) =>
        svg`<g transform=${place(0, y)}><line class=${value === 0 ? "axis" : "grid"} x2=${width - LEFT - RIGHT}></line><text class="tick" x="-8" y="4" text-anchor="end">${mode === "growth" ? growthText(value) || "0" : bytes(value)}</text></g>`,
    )}
    <text class="tick" x=${LEFT} y=${HEIGHT - 6}>${first === undefined ? "" : clock(first.time)}</text>
    <text class="tick" x=${width - RIGHT} y=${HEIGHT - 6} text-anchor="end">${isAlone || last === undefined ? "" : clock(last.time)}</text>
    ${lines.map(
      ({ series: { name }, path, end }, index) =>
        svg`<g class="line line-${index}${name === pointed ? " is-pointed" : ""}" transform=${place(0, 0)}><title>${name}</title><path d=${path}></path><circle cx=${end[0]} cy=${end[1]} r="3.5"></circle></g>`,
    )}
  </svg>`;
}

const panel = new HeapPanel();

/** What is in the heap by type, and how it grows. */
export function heapPanel(context: PageContext): TemplateResult {
  return panel.render(context);
}
