import { readFileSync } from "node:fs";
import * as z from "zod";

/** The extension that a host declares which can show apps (SEP-1865). */
const EXTENSION = "io.modelcontextprotocol/ui";

export const APP_TYPE = "text/html;profile=mcp-app";

export const APP_URI = "ui://swank/stop";

/** The bundle makes the app (`scripts/bundle/bundle.mjs`). */
const FILE = new URL("../../dist/program/app/stop.html", import.meta.url);

/** The tools whose answers can be about a stop. */
const TOOLS: ReadonlySet<string> = new Set([
  "evaluate-lisp",
  "load-system",
  "load-changes",
  "run-tests",
  "interrupt-thread",
  "debugger_frames",
  "debugger_invoke_restart",
  "debugger_step",
  "debugger_continue",
]);

const capabilitiesSchema = z.looseObject({
  extensions: z.looseObject({ [EXTENSION]: z.looseObject({ mimeTypes: z.array(z.string()) }) }),
});

/** Whether a client with these capabilities shows apps. */
export function showsApps(capabilities: unknown): boolean {
  const read = capabilitiesSchema.safeParse(capabilities);
  return read.success && read.data.extensions[EXTENSION].mimeTypes.includes(APP_TYPE);
}

/** An entry of `tools/list` with the app that shows the tool's answers, if there is one. */
export function withApp(tool: string, entry: object): object {
  return TOOLS.has(tool) ? { ...entry, _meta: { ui: { resourceUri: APP_URI } } } : entry;
}

/** The app: a page of HTML with its script and its style, which loads nothing. */
export function readApp(): string {
  return readFileSync(FILE, "utf8");
}
