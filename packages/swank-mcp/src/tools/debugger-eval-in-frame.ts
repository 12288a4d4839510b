import * as z from "zod";
import { inDebugger } from "../debugger-refusals.js";
import { valuesData } from "../format/outcome-data.js";
import { holdsForm } from "../holds-form.js";
import { Refusal } from "../refusal.js";
import { findStop } from "../stop-address.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";
import { checkFrame } from "./check-frame.js";
import { ownership } from "./foreign.js";
import { callOf } from "./resuming.js";
import { frameInput, threadInput } from "./stop-inputs.js";

export const debuggerEvalInFrame = defineTool({
  name: "debugger_eval_in_frame",
  title: "Evaluate in frame",
  description:
    "Evaluate expression in frame's lexical environment: its variables can be read and set. The thread stays stopped.",
  input: z.strictObject({ frame: frameInput, code: z.string().describe("Lisp code to evaluate"), thread: threadInput }),
  output: z.looseObject({ values: z.array(z.string()).optional(), stdout: z.string().optional() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run({ frame, code, thread }, context) {
    if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code holds no form, so nothing was evaluated.");
    const { session, stop } = await findStop(thread, context);
    checkFrame(frame, stop);
    await context.approve({
      operation: ":eval",
      wish: `evaluate code in frame #${frame}`,
      particulars: [["Code", code]],
      circumstances: [`Frame ${frame}: ${await callOf(frame, stop)}`, `Thread ${stop.thread}/${stop.level}`],
      stop,
      ...ownership(stop, session),
    });
    const { timeout, maxValue } = context.config;
    const options = { timeout: timeout * 1000, signal: context.signal, valueLimit: maxValue };
    const { values, valueCount, output } = await inDebugger(() => stop.evaluateInFrame(frame, code, options));
    return jsonAnswer({ ...valuesData(values, valueCount, maxValue), stdout: output });
  },
});
