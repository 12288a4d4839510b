/** MCP's hints about a tool. All four are required, since MCP's defaults assume the worst. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool's possible effects on the program in the image, with MCP's hints for each. */
export const EFFECTS = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  evaluates: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  resumes: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  "sets-breakpoint": { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  "removes-breakpoint": { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  interrupts: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  "writes-files": { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  resets: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const satisfies Record<string, ToolAnnotations>;

/** Key of {@link EFFECTS}. */
export type Effect = keyof typeof EFFECTS;
