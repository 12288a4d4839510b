import * as z from "zod";
import { defineStopTool } from "../../calls/define-stop-tool.js";
import { callOf } from "../../calls/resuming.js";
import { frameInput, threadInput } from "../../calls/stop-inputs.js";
import type { StopPlan, StopRequest } from "../../calls/stop-plan.js";
import { valuesData } from "../../format/outcome-data.js";
import { Refusal } from "../../refusals/refusal.js";
import { holdsForm } from "../../text/holds-form.js";
import { jsonAnswer } from "../../text/tool-answer.js";

export const debuggerEvalInFrame = defineStopTool({
  name: "debugger_eval_in_frame",
  family: "debug",
  effect: "evaluates",
  title: "Evaluate in frame",
  description:
    "Evaluate expression in frame's lexical environment: its variables can be read and set. The thread stays stopped.",
  input: () =>
    z.strictObject({ frame: frameInput, code: z.string().describe("Lisp code to evaluate"), thread: threadInput }),
  output: () => z.looseObject({ values: z.array(z.string()).optional(), stdout: z.string().optional() }),
  check({ code }) {
    if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was evaluated.");
  },
  async plan({ frame, code }, stop, { config, signal }) {
    const request: StopRequest = {
      operation: ":eval",
      action: `evaluate code in frame #${frame}`,
      particulars: [["Code", code]],
      circumstances: [`Frame ${frame}: ${await callOf(frame, stop)}`, `Thread ${stop.thread}/${stop.level}`],
    };
    const { timeout, maxValue } = config;
    const options = { timeout: timeout * 1000, signal, valueLimit: maxValue };
    const act: StopPlan["act"] = async (found) => {
      const { values, valueCount, output } = await found.stop.evaluateInFrame(frame, code, options);
      return jsonAnswer({ ...valuesData(values, valueCount, maxValue), stdout: output });
    };
    return { request, act };
  },
});
