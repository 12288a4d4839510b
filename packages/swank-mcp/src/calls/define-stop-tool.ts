import type * as z from "zod";
import { isForeign, ownership } from "../agent/foreign.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { checkFrame } from "./check-frame.js";
import { continueRequest } from "./resuming.js";
import { type AddressedStop, checkKept, findStop } from "./stop-address.js";
import type { threadInput } from "./stop-inputs.js";
import type { ReadOnlyStop, StopPlan, StopRequest } from "./stop-plan.js";
import { type DeclaredTool, declareTool, type ToolDescription } from "./tool.js";
import type { ToolContext } from "./tool-context.js";

/** Every tool on a stop takes `thread` to choose the stop. If it takes a `frame`, the index is checked. */
type StopInput = z.ZodObject<{ thread: typeof threadInput }>;

interface StopToolDescription<Input extends StopInput> extends ToolDescription<Input> {
  /** Refuses arguments that are wrong for every stop. */
  check?(args: z.output<Input>): void;
}

interface ReadingTool<Input extends StopInput> extends StopToolDescription<Input> {
  readonly effect: "reads";
  answer(args: z.output<Input>, stop: ReadOnlyStop, context: ToolContext): Promise<ToolAnswer>;
}

interface ActingTool<Input extends StopInput> extends StopToolDescription<Input> {
  readonly effect: "evaluates" | "resumes";
  plan(args: z.output<Input>, stop: ReadOnlyStop, context: ToolContext): Promise<StopPlan>;
}

/** The declaration of a tool on a stop. A tool that changes the program returns a plan, which runs only if it is allowed. */
export type StopToolDeclaration<Input extends StopInput> = ReadingTool<Input> | ActingTool<Input>;

/** Creates a tool on a stop. The stop is found, the frame checked and the user asked before the tool acts. */
export function defineStopTool<Input extends StopInput>(declaration: StopToolDeclaration<Input>): DeclaredTool {
  return declareTool(declaration, async (args, context, approve) => {
    declaration.check?.(args);
    const found = await findStop(args.thread, context);
    if ("frame" in args && typeof args.frame === "number") checkFrame(args.frame, found.stop);
    if (declaration.effect === "reads") return declaration.answer(args, found.stop, context);
    const plan = await declaration.plan(args, found.stop, context);
    const request = requestOf(plan, found);
    if (request !== undefined) await approve({ ...request, stop: found.stop, ...ownership(found.stop, found.session) });
    // The user may have taken long to answer.
    checkKept(found, context);
    return plan.act(found);
  });
}

/** @returns `undefined` for a plan that needs no approval. */
function requestOf({ request, isAbort = false }: StopPlan, found: AddressedStop): StopRequest | undefined {
  if (isAbort && !isForeign(found.stop, found.session)) return undefined;
  if (request === "continue") return continueRequest(found);
  if (request !== "impossible-elsewhere") return request;
  if (found.stop.owner !== undefined) return undefined;
  throw new Error("Only a stop in another client's debugger can be impossible to act on.");
}
