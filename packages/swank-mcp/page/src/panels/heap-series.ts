import type { HeapSummary } from "./data.js";

/** A look at the heap at some time. */
export interface HeapSample {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly summary: HeapSummary;
}

/** The bytes of a type over time. */
export interface TypeSeries {
  readonly name: string;
  readonly points: readonly { readonly time: number; readonly bytes: number }[];
  readonly count: number;
  readonly bytes: number;
  /** Bytes more than in the first sample that has the type. */
  readonly growth: number;
  /** Objects more. */
  readonly countGrowth: number;
}

/** Most samples that are kept; then each second one is left out. */
const MOST_SAMPLES = 240;

/** The samples with another one. */
export function withSample(samples: readonly HeapSample[], sample: HeapSample): HeapSample[] {
  const kept = samples.length < MOST_SAMPLES ? samples : samples.filter((_, index) => index % 2 === 0);
  return [...kept, sample];
}

/** The types of the latest sample, and those of earlier ones that have shrunk below its limit, by bytes. */
export function seriesOf(samples: readonly HeapSample[]): TypeSeries[] {
  const latest = samples.at(-1);
  if (latest === undefined) return [];
  return latest.summary.types.map(({ name, count, bytes }) => {
    const points = samples.flatMap(({ time, summary }) => {
      const found = summary.types.find((type) => type.name === name);
      return found === undefined ? [] : [{ time, bytes: found.bytes, count: found.count }];
    });
    const [first] = points;
    return {
      name,
      points,
      count,
      bytes,
      growth: bytes - (first?.bytes ?? bytes),
      countGrowth: count - (first?.count ?? count),
    };
  });
}

/** What the chart shows of the series: their bytes, or by how much they have grown. */
export type ChartMode = "bytes" | "growth";

/** The chart's lines and axes, in a drawing of `width` times `height`. */
export interface Chart {
  readonly lines: readonly {
    readonly series: TypeSeries;
    readonly path: string;
    readonly end: readonly [x: number, y: number];
  }[];
  /** Values with their heights. */
  readonly ticks: readonly { readonly value: number; readonly y: number }[];
  /** The seconds from the first to the last sample. */
  readonly seconds: number;
}

/** Draws the series that are the largest, or that have changed the most. */
export function chartOf(
  all: readonly TypeSeries[],
  mode: ChartMode,
  { width, height, lines: most }: { width: number; height: number; lines: number },
): Chart {
  const size = ({ bytes, growth }: TypeSeries) => (mode === "bytes" ? bytes : Math.abs(growth));
  const shown = [...all].sort((one, other) => size(other) - size(one)).slice(0, most);
  const valuesOf = ({ points }: TypeSeries) => {
    const base = mode === "bytes" ? 0 : (points[0]?.bytes ?? 0);
    return points.map(({ time, bytes }) => ({ time, value: bytes - base }));
  };
  const values = shown.flatMap(valuesOf);
  const times = values.map(({ time }) => time);
  const start = Math.min(...times, Number.POSITIVE_INFINITY);
  const span = Math.max(...times, Number.NEGATIVE_INFINITY) - start;
  const ticks = byteTicks(
    Math.min(0, ...values.map(({ value }) => value)),
    Math.max(0, ...values.map(({ value }) => value)),
  );
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const x = (time: number) => (span > 0 ? ((time - start) / span) * width : 0);
  const y = (value: number) => height - ((value - low) / (high - low)) * height;
  const lines = shown.map((series) => {
    const points = valuesOf(series).map(({ time, value }) => [x(time), y(value)] as const);
    const path = points.map(([left, top], index) => `${index === 0 ? "M" : "L"}${round(left)} ${round(top)}`).join("");
    return { series, path, end: points.at(-1) ?? ([0, height] as const) };
  });
  return { lines, ticks: ticks.map((value) => ({ value, y: y(value) })), seconds: span > 0 ? span / 1000 : 0 };
}

function round(place: number): number {
  return Math.round(place * 10) / 10;
}

/** Round numbers of bytes from at most `low` to at least `high`, in the unit that fits. */
function byteTicks(low: number, high: number): number[] {
  const unit = 1024 ** Math.floor(Math.log(Math.max(1, high - low)) / Math.log(1024));
  return ticksOf(low / unit, high / unit).map((tick) => tick * unit);
}

/** Round values from at most `low` to at least `high`, four or five of them. */
export function ticksOf(low: number, high: number): number[] {
  const rough = high > low ? (high - low) / 4 : 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}
