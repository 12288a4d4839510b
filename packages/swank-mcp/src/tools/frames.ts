import * as z from "zod";
import { jsonAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { concludedAnswer } from "../call/evaluate.js";
import { callOf, defineStopTool, type StopPlan, type StopRequest } from "../call/stop-tool.js";
import { frameInput, threadInput } from "../call/tool.js";
import { frameLocalsData, framePageData, placeData } from "../report/data.js";
import { restartsData } from "../report/stop.js";
import { concludeInFrame } from "../session/conclusion.js";
import { cutName, holdsForm, plural } from "../text/cut.js";

const PAGE = 20;

const MAX_FRAMES = 100;

export const debuggerFrames = defineStopTool({
  name: "debugger_frames",
  family: "debug",
  needs: "frames",
  effect: "reads",
  title: "Stack frames",
  description: ({ readOnly }) =>
    `Get current debugger stack frames of a stopped thread: function, source, variables.${readOnly ? "" : " While the stop lasts, code can refer to object_id 42 as (swank-objects:ref 42)."}`,
  input: () =>
    z.strictObject({
      thread: threadInput,
      start: z.int().default(0).describe("Start frame index"),
      end: z.int().optional().meta({ description: "End frame index", default: PAGE }),
      internal: z.boolean().default(false).describe("Also frames of Lisp and the server"),
    }),
  output: () =>
    z.looseObject({
      frames: z.array(z.looseObject({})).optional(),
      total_frames: z.number().optional(),
    }),
  async answer({ start, end = start < PAGE ? PAGE : start + PAGE, internal }, stop) {
    checkRange(start, end, stop.condition.totalFrames);
    const page = await stop.frames(start, Math.min(end, start + MAX_FRAMES));
    return jsonAnswer({ ...framePageData(page, stop.condition, internal), ...placeData(stop) });
  },
});

function checkRange(start: number, end: number, total: number): void {
  if (start >= 0 && start <= end && start < total) return;
  const reversed = start > end ? `start ${start} is greater than end ${end}. ` : "";
  throw new Refusal("INVALID_FRAME", "Frame index out of range", {
    remedy: `${reversed}The stack has frames 0 to ${total - 1}; start is the first frame to show, end the one after the last.`,
  });
}

export const debuggerFrameLocals = defineStopTool({
  name: "debugger_frame_locals",
  family: "debug",
  needs: "locals",
  effect: "reads",
  title: "Frame variables",
  description: "Get local variables in a frame of a stopped thread.",
  input: () => z.strictObject({ frame: frameInput, thread: threadInput }),
  output: () => z.looseObject({ locals: z.array(z.looseObject({})).optional() }),
  answer: async ({ frame }, stop) =>
    jsonAnswer({ ...frameLocalsData(await stop.frameLocals(frame)), ...placeData(stop) }),
});

export const debuggerRestarts = defineStopTool({
  name: "debugger_restarts",
  family: "debug",
  effect: "reads",
  title: "Restarts",
  description: "List the restarts of a stopped thread, innermost first.",
  input: () => z.strictObject({ thread: threadInput }),
  output: () => z.looseObject({ restarts: z.array(z.looseObject({})).optional() }),
  answer: async (_, stop) => jsonAnswer({ ...restartsData(stop.restarts), ...placeData(stop) }),
});

export const debuggerEvalInFrame = defineStopTool({
  name: "debugger_eval_in_frame",
  family: "debug",
  needs: "eval-in-frame",
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
      const conclusion = { ...concludeInFrame(value), apart: context.agent.takeApart(found.session) };
      return concludedAnswer(conclusion, context, [
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
