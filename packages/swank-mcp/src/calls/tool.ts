import type * as z from "zod";
import type { Config } from "../cli/config.js";
import type { Family } from "../cli/families.js";
import { Refusal } from "../refusals/refusal.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { jsonSchema, type ObjectSchema, plainSchema } from "./argument-schema.js";
import { EFFECTS, type Effect, type ToolAnnotations } from "./effects.js";
import { lazily } from "./lazily.js";
import { plainArguments } from "./plain-code.js";
import { readArguments } from "./read-arguments.js";
import type { Approve, ToolContext } from "./tool-context.js";

/** The description of a tool. */
export interface ToolDescription<Input extends z.ZodObject> {
  readonly name: string;
  readonly family: Family;
  readonly title: string;
  /** For the agent; at most 2,048 characters. A function if it depends on the families that are switched on. */
  readonly description: string | ((config: Config) => string);
  /** Returns a `z.strictObject`, so that a misspelt key is an error. Called when it is first needed: schemas slow the start. */
  readonly input: (config: Config) => Input;
  /** Returns the schema of a JSON tool's structured content. No property may be required: clients also check refusals against it. */
  readonly output?: () => z.ZodObject;
  /**
   * Whether arguments run code: that of the caller, or of the program's macros. With --read-only, such calls are refused. Default: as the
   * tool's effect says. A tool that always does is not even offered.
   */
  readonly runsCode?: "always" | ((args: z.output<Input>) => boolean);
}

/** Valid arguments, ready to run, or the problems with them. */
export type Prepared =
  | { readonly ok: true; run(context: ToolContext, approve: Approve): Promise<ToolAnswer> }
  | {
      readonly ok: false;
      readonly issues: readonly z.core.$ZodIssue[];
      /** The arguments as far as they could be read. */
      readonly read: unknown;
    };

/** A tool with the defaults of one client's configuration. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  /** As clients get it. */
  readonly inputSchema: ObjectSchema;
  /** All that the tool takes. */
  readonly accepted: ObjectSchema;
  readonly outputSchema: ObjectSchema | undefined;
  prepare(args: unknown): Prepared;
}

/** A tool in the catalogue. It hides the types of its arguments. */
export interface DeclaredTool {
  readonly name: string;
  readonly family: Family;
  readonly effect: Effect;
  /** Whether any call of it only reads, so that it is offered with --read-only. */
  readonly canOnlyRead: boolean;
  /** Returns the tool with the defaults of a configuration. */
  for(config: Config): Tool;
}

/** The refusal of a call that would do more than read. */
export function readOnlyRefusal(name: string): Refusal {
  return new Refusal("READ_ONLY", `${name} would do more than read, which --read-only forbids.`);
}

/** Creates a tool from its description and the function that runs it. */
export function declareTool<Input extends z.ZodObject>(
  declaration: ToolDescription<Input> & { readonly effect: Effect },
  run: (args: z.output<Input>, context: ToolContext, approve: Approve) => Promise<ToolAnswer>,
): DeclaredTool {
  const { name, family, effect, title, description, output, runsCode } = declaration;
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
          if (!parsed.success) return { ok: false, issues: parsed.error.issues, read };
          const { data } = parsed;
          if (config.readOnly && !onlyReads(data))
            return { ok: true, run: () => Promise.reject(readOnlyRefusal(name)) };
          return { ok: true, run: (context, approve) => run(data, context, approve) };
        },
      };
    },
  };
}
