import { rebalanced } from "swank-client";
import * as z from "zod";
import { type ToolAnswer, textAnswer } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { answerBegun, answerLook } from "../call/background.js";
import { concludedAnswer, concludeEvaluation } from "../call/evaluate.js";
import { defineTool, type ToolContext, timeoutInput } from "../call/tool.js";
import { outputPart, textSection } from "../report/report.js";
import { holdsForm } from "../text/cut.js";
import { lineDiff } from "../text/line-diff.js";

/** Shows a part of an output that a report has cut. Runs nothing in Lisp. */
function readOutput(id: number, offset: number, most: number | undefined, { agent, config }: ToolContext): ToolAnswer {
  const output = agent.outputs.find(id);
  if (output === undefined) throw new Refusal("NO_SUCH_OUTPUT", `Output ${id} is not kept.`);
  const { stream, text } = output;
  if (offset >= text.length)
    throw new Refusal("INVALID_ARGUMENTS", `Output ${id} ends at offset ${text.length}.`, {
      remedy: "Give a smaller offset.",
    });
  const { part, place } = outputPart(text, offset, most ?? config.maxOutput, id);
  return textAnswer(textSection(stream, part).join(""), place);
}

/** Most lines of a proposed repair that is shown, and characters of the longest. */
const MAX_REPAIR = 40;

const MAX_WIDTH = 300;

/** The repair that the indentation of unbalanced code proposes, as a diff; empty if there is none. It is never applied. */
function repairLines(code: string): string[] {
  const mended = rebalanced(code);
  if (mended === undefined) return [];
  const diff = lineDiff(code, mended).split("\n");
  if (diff.length > MAX_REPAIR || diff.some((line) => line.length > MAX_WIDTH)) return [];
  return ["By its indentation, the code may mean (not applied):", ...diff];
}

/** Characters of each output stream that the image sends, so that what an answer cuts can be read later. */
const KEPT_OUTPUT = 2_000_000;

const MIN_OUTPUT = 1000;

const MAX_OUTPUT = 1_000_000;

export const evaluateLisp = defineTool({
  name: "evaluate-lisp",
  family: "core",
  effect: "evaluates",
  title: "Evaluate Lisp",
  description: ({ tools }) =>
    `Evaluate Common Lisp code in the live image and report output, warnings and the values of the last form, or the error with its backtrace. Definitions, variables and the package persist. An error leaves its thread stopped${tools.includes("debug") ? " with frames and restarts alive" : ""}; other calls still run. Unbalanced code is refused whole, with line and column; any other error leaves the forms before it evaluated.`,
  input: (config) =>
    z.strictObject({
      code: z.string().optional().describe("One or more forms, e.g. (defun sq (x) (* x x)) (sq 5)"),
      package: z.string().min(1).optional().describe("Package for this call only"),
      timeout: timeoutInput(config),
      stdin: z.string().optional().describe("Standard input of the code"),
      "max-output": z
        .int()
        .min(MIN_OUTPUT)
        .max(MAX_OUTPUT)
        .optional()
        .describe(`Characters of each output stream (default ${config.maxOutput}) and value (${config.maxValue})`),
      background: z.boolean().optional().describe("Answer at once, with an id; no default timeout"),
      id: z.int().optional().describe("Instead of code: id to look at: output, state, result"),
      output: z.int().optional().describe("Instead of code: id of cut output to read"),
      offset: z.int().min(0).optional().describe("Where to read it from"),
      conditions: z
        .union([z.boolean(), z.string().min(1)])
        .optional()
        .describe("Report conditions and their handlers: true, or a type"),
    }),
  async run(args, context) {
    const { code, timeout, stdin, conditions, background = false, id, output, offset } = args;
    const most = args["max-output"];
    const isCode = holdsForm(code ?? "");
    if (id !== undefined && !isCode && output === undefined) return answerLook(id, context, most);
    if (output !== undefined && id === undefined && !isCode) return readOutput(output, offset ?? 0, most, context);
    if (code === undefined || id !== undefined || output !== undefined || offset !== undefined) throw misused(code);
    if (!isCode) throw new Refusal("EMPTY_CODE", "The code contains no form, so nothing was evaluated.");
    const session = await context.session();
    const { onError, policy, maxValue } = context.config;
    const evaluation = context.agent.evaluations.begin(session.client, code, {
      package: args.package,
      stdin,
      conditions,
      onError,
      policy,
      outputLimit: KEPT_OUTPUT,
      valueLimit: most ?? maxValue,
    });
    if (background) return answerBegun(evaluation, code, session, context, { timeout, most });
    const seconds = timeout ?? context.config.timeout;
    const conclusion = await concludeEvaluation(evaluation, session, context, seconds);
    const remarks = conclusion.isError && conclusion.status === "aborted" ? repairLines(code) : [];
    return concludedAnswer(conclusion, context, remarks, most);
  },
});

/** The refusal of a call that does not do one thing: evaluate code, look at an evaluation, or read output. */
function misused(code: string | undefined): Refusal {
  const message =
    code === undefined
      ? 'The argument "code" is missing: it must be a string.'
      : "An evaluation is looked at, and output is read, without code.";
  return new Refusal("INVALID_ARGUMENTS", `evaluate-lisp: ${message}`, {
    remedy:
      "Correct this and call again. evaluate-lisp takes code to evaluate, the id of a background evaluation to look at, or output and offset to read output that was cut.",
  });
}
