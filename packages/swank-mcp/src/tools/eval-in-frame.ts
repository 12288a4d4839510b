import * as z from "zod";
import { Refusal } from "../base/refusals.js";
import { concludedAnswer } from "../call/evaluate.js";
import { callOf, defineStopTool, type StopPlan, type StopRequest } from "../call/stop-tool.js";
import { frameInput, threadInput } from "../call/tool.js";
import { concludeInFrame } from "../session/conclusion.js";
import { cutName, holdsForm, plural } from "../text/cut.js";

export const debuggerEvalInFrame = defineStopTool({
  name: "debugger_eval_in_frame",
  family: "debug",
  effect: "evaluates",
  title: "Evaluate in frame",
  description:
    "Evaluate expression in frame's lexical environment: its variables can be read and set. The thread stays stopped.",
  input: () =>
    z.strictObject({
      frame: frameInput,
      code: z.string().describe("Lisp code to evaluate"),
      package: z.string().min(1).optional().describe("Package to read in (default: the frame's)"),
      thread: threadInput,
    }),
  check({ code }) {
    if (!holdsForm(code)) throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was evaluated.");
  },
  async plan({ frame, code, package: packageName }, stop, context) {
    const { timeout, maxValue } = context.config;
    const request: StopRequest = {
      operation: ":eval",
      action: `evaluate code in frame #${frame}`,
      particulars: [["Code", code], ...(packageName === undefined ? [] : [["Package", packageName] as const])],
      circumstances: [`Frame ${frame}: ${await callOf(frame, stop)}`, `Thread ${stop.thread}/${stop.level}`],
    };
    const options = { package: packageName, timeout: timeout * 1000, signal: context.signal, valueLimit: maxValue };
    const act: StopPlan["act"] = async (found) => {
      const value = await found.stop.evaluateInFrame(frame, code, options);
      return concludedAnswer(concludeInFrame(value), context, [
        ...setLine(value.set),
        `Read in package ${cutName(value.package)}.`,
      ]);
    };
    return { request, act };
  },
});

/** What the program sees of the variables that the code set; nothing if it set none. */
function setLine(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const [it, its] = names.length === 1 ? ["it", "its"] : ["them", "their"];
  const list = names.map((name) => cutName(name)).join(", ");
  return [
    `Set ${list}. The code sees ${it} only where the compiler has not derived constants or types from ${its} old ${plural(names.length, "value")}.`,
  ];
}
