import type { Place } from "../agent/agent-session.js";

/** Packages with a well-known short name. */
const USUAL_NAMES: ReadonlyMap<string, string> = new Map([
  ["COMMON-LISP-USER", "CL-USER"],
  ["COMMON-LISP", "CL"],
]);

/** The prompt with the package and the stop that commands act on: `CL-USER> `, `CL-USER [9/1]> `. */
export function consolePrompt(packageName: string | undefined, stop: string | undefined): string {
  const name = packageName === undefined ? "" : (USUAL_NAMES.get(packageName) ?? packageName);
  return `${[name, ...(stop === undefined ? [] : [`[${stop}]`])].join(" ").trim()}> `;
}

/** The prompt for further lines of an entry, as wide as the first prompt. */
export function continuationPrompt(prompt: string): string {
  return "... ".padStart(prompt.length);
}

/** The stop that commands act on: that of the chosen thread while it is stopped, otherwise the latest. */
export function stopOf(place: Place | undefined, chosen: string | undefined): string | undefined {
  const stops = place?.stops ?? [];
  return stops.find((stop) => stop.split("/")[0] === chosen) ?? stops.at(-1);
}
