import * as z from "zod";
import type { ApprovalRequest } from "./approval-request.js";
import type { Approvals } from "./approvals.js";
import type { Config } from "./config.js";
import type { LastError } from "./last-error.js";
import type { OutputStream } from "./lisp-port.js";
import type { LispSession } from "./lisp-session.js";
import type { OutputRelay } from "./output-relay.js";
import type { StopKeeper } from "./stop-keeper.js";
import type { ToolAnswer } from "./tool-answer.js";

/** MCP's hints about a tool; all four are given, since their defaults claim the worst. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** What a running tool may use. */
export interface ToolContext {
  /** Aborted when the client cancels the call or goes away, and when a person breaks in: whatever is waited for is given up. */
  readonly signal: AbortSignal;
  /** Aborted when the client cancels or goes away only: of an evaluation, a person who breaks in wants to see where it is. */
  readonly cancelled: AbortSignal;
  readonly config: Config;
  readonly lastError: LastError;
  readonly stops: StopKeeper;
  readonly outputs: OutputRelay;
  readonly approvals: Approvals;
  /**
   * Returns when the user allows it, or need not be asked.
   *
   * @throws Refusal `APPROVAL_DENIED`, `CANCELLED`
   */
  approve(request: ApprovalRequest): Promise<void>;
  /**
   * The image, connected to or launched when that has not happened yet.
   *
   * @throws Refusal `LISP_UNREACHABLE`, SwankError - when there is no way to it.
   */
  session(): Promise<LispSession>;
  /** The session, if there is one. */
  currentSession(): Promise<LispSession | undefined>;
  /** Why the last session was lost, a sentence, as long as no other one has taken its place. */
  lastLoss(): Promise<string | undefined>;
  /**
   * Ends the session with its image, and gives a new one.
   *
   * @throws as `session` does; the session is ended all the same.
   */
  renew(session: LispSession): Promise<LispSession>;
  /** Tells the client what the evaluation has printed lately, and on which stream; or, without one, what is waited for. */
  progress(text: string, stream?: OutputStream): void;
}

/** How a tool is declared: everything there is to know of it, and what it does. */
export interface ToolDeclaration<Input extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  /** For the agent; at most 2,048 characters reach it. */
  readonly description: string;
  /** Made by `z.strictObject`, so that a misspelt key is an error. */
  readonly input: Input;
  /** Of a JSON tool's structured content; no property may be required, since clients check refusals against it as well. */
  readonly output?: z.ZodObject;
  readonly annotations: ToolAnnotations;
  run(args: z.output<Input>, context: ToolContext): Promise<ToolAnswer> | ToolAnswer;
}

/** One property of a schema as JSON Schema says it; what {@link z.toJSONSchema} makes of the types that tools use. */
const propertySchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  anyOf: z.array(z.looseObject({ type: z.string() })).optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
});
const objectSchema = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string(), propertySchema),
  required: z.array(z.string()).optional(),
});

export type PropertySchema = z.output<typeof propertySchema>;
export type ObjectSchema = z.output<typeof objectSchema>;

/** Arguments that fit, ready to run; or what is wrong with them. */
export type Prepared =
  | { readonly ok: true; run(context: ToolContext): Promise<ToolAnswer> }
  | { readonly ok: false; readonly issues: readonly z.core.$ZodIssue[] };

/** A tool whose argument types are nobody else's concern. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema | undefined;
  prepare(args: unknown): Prepared;
}

/** Makes a tool of its declaration. */
export function defineTool<Input extends z.ZodObject>(declaration: ToolDeclaration<Input>): Tool {
  const { name, title, description, annotations, input, output } = declaration;
  return {
    name,
    title,
    description,
    annotations,
    get inputSchema() {
      return jsonSchema(input);
    },
    get outputSchema() {
      return output === undefined ? undefined : jsonSchema(output);
    },
    prepare(args) {
      const parsed = input.safeParse(args);
      if (!parsed.success) return { ok: false, issues: parsed.error.issues };
      return { ok: true, run: async (context) => declaration.run(parsed.data, context) };
    },
  };
}

/** Without `$schema`: MCP's default dialect knows every word that is used here, and each tool would repeat it. */
function jsonSchema(schema: z.ZodObject): ObjectSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input", override: dropSafetyBounds });
  return objectSchema.parse(rest);
}

/** Every integer would be said to lie where JavaScript counts exactly. */
function dropSafetyBounds({ jsonSchema: schema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
