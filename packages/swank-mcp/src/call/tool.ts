import type { types } from "swank-client";
import * as z from "zod";
import type { ToolAnswer, ToolGuide } from "../base/answer.js";
import type { Config, Family } from "../base/config.js";
import { Refusal } from "../base/refusals.js";
import type { AgentSession } from "../session/agent.js";
import type { ApprovalRequest } from "../session/approval-prompt.js";
import type { LispSession } from "../session/image.js";
import {
  argumentsRefusal,
  jsonSchema,
  type ObjectSchema,
  plainArguments,
  plainSchema,
  readArguments,
} from "./arguments.js";

/** MCP's hints about a tool. All four are required, since MCP's defaults assume the worst. */
interface ToolAnnotations {
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

export type Effect = keyof typeof EFFECTS;

/** Returns a function that makes a value when it is first called, and returns the same value from then on. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export interface ToolDescription<Input extends z.ZodObject> {
  readonly name: string;
  readonly family: Family;
  readonly title: string;
  /** For the agent; at most 2,048 characters. A function if it depends on the families that are switched on. */
  readonly description: string | ((config: Config) => string);
  /** Returns a `z.strictObject`, so that a misspelt key is an error. Called when it is first needed: schemas slow the start. */
  readonly input: (config: Config) => Input;
  /** What the image must be able to do. In one that cannot, the tool is not listed, and its calls are refused. Default: nothing. */
  readonly needs?: types.Ability;
  /** Returns the schema of a JSON tool's structured content. No property may be required: clients also check refusals against it. */
  readonly output?: () => z.ZodObject;
  /**
   * Whether arguments run code: that of the caller, or of the program's macros. With --read-only, such calls are refused. Default: as the
   * tool's effect says. A tool that always does is not even offered.
   */
  readonly runsCode?: "always" | ((args: z.output<Input>) => boolean);
}

/** A tool with the defaults of one client's configuration. */
export interface Tool {
  readonly name: string;
  readonly needs: types.Ability | undefined;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  /** As clients get it. */
  readonly inputSchema: ObjectSchema;
  readonly accepted: ObjectSchema;
  readonly outputSchema: ObjectSchema | undefined;
  /** Checks arguments, and returns the function that runs the tool with them. @throws Refusal */
  prepare(args: unknown): (context: ToolContext, approve: Approve) => Promise<ToolAnswer>;
}

/** A tool in the catalogue. It hides the types of its arguments. */
export interface DeclaredTool {
  readonly name: string;
  readonly family: Family;
  readonly effect: Effect;
  /** Whether any call of it only reads, so that it is offered with --read-only. */
  readonly canOnlyRead: boolean;
  for(config: Config): Tool;
}

/** The refusal of a call that would do more than read. */
export function readOnlyRefusal(name: string): Refusal {
  return new Refusal("READ_ONLY", `${name} would do more than read, which --read-only forbids.`);
}

export function declareTool<Input extends z.ZodObject>(
  declaration: ToolDescription<Input> & { readonly effect: Effect },
  run: (args: z.output<Input>, context: ToolContext, approve: Approve) => Promise<ToolAnswer>,
): DeclaredTool {
  const { name, family, effect, title, description, output, runsCode, needs } = declaration;
  const canOnlyRead = runsCode === undefined ? EFFECTS[effect].readOnlyHint : runsCode !== "always";
  const onlyReads = (args: z.output<Input>) => canOnlyRead && !(typeof runsCode === "function" && runsCode(args));
  return {
    name,
    family,
    effect,
    canOnlyRead,
    for(config) {
      const input = lazily(() => declaration.input(config));
      const accepted = lazily(() => jsonSchema(input()));
      return {
        name,
        needs,
        title,
        description: typeof description === "function" ? description(config) : description,
        annotations: EFFECTS[config.readOnly && canOnlyRead ? "reads" : effect],
        get inputSchema() {
          return plainSchema(accepted());
        },
        get accepted() {
          return accepted();
        },
        get outputSchema() {
          return output === undefined ? undefined : jsonSchema(output());
        },
        prepare(args) {
          const read = plainArguments(readArguments(args, name, accepted()));
          const parsed = input().safeParse(read);
          if (!parsed.success) throw argumentsRefusal(name, accepted(), read, parsed.error.issues);
          const { data } = parsed;
          if (config.readOnly && !onlyReads(data)) throw readOnlyRefusal(name);
          return (context, approve) => run(data, context, approve);
        },
      };
    },
  };
}

export interface Plan {
  readonly request: ApprovalRequest | undefined;
  act(): Promise<ToolAnswer>;
}

interface RunningTool<Input extends z.ZodObject> extends ToolDescription<Input> {
  readonly effect: "reads" | "evaluates" | "removes-breakpoint" | "writes-files" | "resets";
  run(args: z.output<Input>, context: ToolContext): Promise<ToolAnswer> | ToolAnswer;
}

/**
 * A breakpoint or an interrupt changes how a program runs, and so can code in a stopped frame. The tool returns a plan, and the runner asks the
 * user first.
 */
interface PlanningTool<Input extends z.ZodObject> extends ToolDescription<Input> {
  readonly effect: "sets-breakpoint" | "interrupts" | "evaluates";
  plan(args: z.output<Input>, context: ToolContext): Promise<Plan>;
}

/** The declaration of a tool that is not about one stop. */
export type ToolDeclaration<Input extends z.ZodObject> = RunningTool<Input> | PlanningTool<Input>;

/** Creates a tool. For tools that inspect or change a stop, use `defineStopTool`. */
export function defineTool<Input extends z.ZodObject>(declaration: ToolDeclaration<Input>): DeclaredTool {
  return declareTool(declaration, async (args, context, approve) => {
    if ("run" in declaration) return declaration.run(args, context);
    const { request, act } = await declaration.plan(args, context);
    if (request !== undefined) await approve(request);
    return act();
  });
}

/** One day: the longest timeout of a tool call. */
const MAX_SECONDS = 86_400;

/** From this number of seconds on, a timeout may have been meant in milliseconds. */
const LONG_SECONDS = 1000;

export function timeoutRemarks(args: unknown): string[] {
  const given = typeof args === "object" && args !== null && "timeout" in args ? args.timeout : undefined;
  if (typeof given !== "number" || given < LONG_SECONDS) return [];
  return [`timeout ${given} was taken as ${given} seconds (${Math.round(given / 60)} minutes), not milliseconds.`];
}

export const threadText = z.union([z.string().min(1), z.int().transform(String)]);

export const threadInput = threadText.prefault("auto").describe("Thread id, id/level, or auto: the latest stop");

export const frameInput = z.int().describe("Frame index");

export const stdinInput = z.string().optional().describe("Input");

/** A time above 0. The least one is named, because schemas have no exclusive bounds. */
export function secondsUpTo(most: number) {
  return z.number().min(0.001).max(most);
}

export function timeoutInput({ timeout }: Config) {
  return secondsUpTo(MAX_SECONDS).optional().describe(`Seconds (default ${timeout})`);
}

/** Everything that a running tool may use. */
export interface ToolContext {
  /** Aborted when the client cancels the call or disconnects, and when the user interrupts it: every wait then ends. */
  readonly signal: AbortSignal;
  /** Aborted only when the client cancels the call or disconnects. An interrupted evaluation pauses instead, to be inspected. */
  readonly cancelled: AbortSignal;
  readonly config: Config;
  readonly agent: AgentSession;
  /** Knows the client's tools: hints must name no others. */
  readonly guide: ToolGuide;
  /**
   * The session; connects to the image, or launches it, if there is none yet.
   *
   * @param options - `evenIfHung`: also a session that is known to hang.
   * @throws Refusal `LISP_UNREACHABLE`, `IMAGE_HANGS`, SwankError - when the image cannot be reached or launched.
   */
  session(options?: { readonly evenIfHung?: boolean }): Promise<LispSession>;
  renew(session: LispSession): Promise<LispSession>;
  /** Sends the client new output of the evaluation and its stream or, without a stream, a text about the current wait. */
  progress(text: string, stream?: types.OutputStream): void;
  /** Records output of a background evaluation, which goes to no answer yet. */
  recordOutput(text: string, stream: types.OutputStream): void;
  /** Records that background evaluation `id`, which this call has begun, has ended, with its report. */
  recordEnd(id: number, report: ToolAnswer, milliseconds: number): void;
}

/**
 * Resolves when the user allows the request, or need not be asked. Only a tool's runner has it: a tool itself cannot ask for approval or
 * skip it.
 *
 * @throws Refusal `APPROVAL_DENIED`, `CANCELLED`, `STALE_STOP`
 */
export type Approve = (request: ApprovalRequest) => Promise<void>;
