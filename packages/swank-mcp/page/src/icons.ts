import { html, svg, type TemplateResult } from "lit-html";

/** Paths on a square of 16. */
const PATHS = {
  running: "M8 1.5a6.5 6.5 0 1 1-6.5 6.5",
  ok: "m3 8.5 3.2 3.2L13 4.8",
  bad: "m4 4 8 8m0-8-8 8",
  stop: "M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5H5.3l-3.5-3.5V5.3zM8 5v3.5m0 2.2v.3",
  ask: "M5.5 6a2.5 2.5 0 1 1 3.6 2.3c-.7.3-1.1.7-1.1 1.5M8 12.4v.2",
  pause: "M5.5 3.5v9m5-9v9",
  idle: "M8 6.6a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8",
  out: "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8M3.7 3.7l8.6 8.6",
  close: "m4 4 8 8m0-8-8 8",
  open: "m6 4 4 4-4 4",
  you: "M8 2.5a2.7 2.7 0 1 1 0 5.4 2.7 2.7 0 0 1 0-5.4M3 13.8c.4-2.6 2.4-4 5-4s4.6 1.4 5 4",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon, which a screen reader passes over: a word stands beside it. */
export function icon(name: IconName): TemplateResult {
  return html`<svg class="icon icon-${name}" viewBox="0 0 16 16" aria-hidden="true">
    ${svg`<path d=${PATHS[name]} />`}
  </svg>`;
}

/** A bar that is filled to a part from 0 to 1. The policy of the page forbids style attributes, not those of SVG. */
export function bar(part: number, label: string): TemplateResult {
  const percent = `${(Math.min(1, Math.max(0, part)) * 100).toFixed(1)}%`;
  return html`<svg class="bar" role="img" aria-label=${label}>${svg`<rect width=${percent} height="100%" />`}</svg>`;
}
