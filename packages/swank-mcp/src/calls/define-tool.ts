import type * as z from "zod";
import type { ApprovalRequest } from "../agent/approval-request.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { type DeclaredTool, declareTool, type ToolDescription } from "./tool.js";
import type { ToolContext } from "./tool-context.js";

/** An action that the user must allow. */
export interface Plan {
  /** Absent for an action that needs no approval. */
  readonly request: ApprovalRequest | undefined;
  /** Called only if the user allows it. */
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
