import type { LoadSource } from "swank-client/types";
import * as z from "zod";
import { concludeEvaluation, presentedAnswer } from "../../calls/answer-evaluation.js";
import { defineTool } from "../../calls/define-tool.js";
import { timeoutInput } from "../../calls/stop-inputs.js";
import type { ToolContext } from "../../calls/tool-context.js";
import { cancelledText, loadAnswer, loadProgressBlocks } from "../../format/load-result.js";
import type { LoadResult } from "../../image/lisp-port.js";
import { Refusal } from "../../refusals/refusal.js";
import { isSystemFile } from "../../text/system-file.js";

export const loadSystem = defineTool({
  name: "load-system",
  family: "code",
  effect: "evaluates",
  title: "Load a system",
  description:
    "Compile and load a system by ASDF (Quicklisp, ocicl), or a file: every error, warning and note with its place, what is loaded, and what is missing and where it was looked for. A failure stays stopped: correct the file, then RETRY, or LOAD-ANYWAY despite warnings.",
  input: (config) =>
    z.strictObject({
      system: z.string().min(1).optional().describe("Name of the system"),
      file: z.string().min(1).optional().describe("Instead: a .lisp file, or the .asd file of a system"),
      force: z.boolean().optional().describe("Compile all its files again (default false)"),
      test: z.boolean().optional().describe("Load its test systems, too (default false)"),
      timeout: timeoutInput(config),
    }),
  async run({ system, file, force, test, timeout }, context) {
    const source = sourceOf(system, file, test === true);
    const session = await context.session();
    const { signal, config, agent } = context;
    const { code, result, progress } = await session.client.code.loadSystem(source, { force, test, signal });
    // Compiled files stay on the disk: they must be as the user's own programs compile them.
    const options = { valuesAs: "data", onError: config.onError, policy: "keep" } as const;
    const evaluation = agent.evaluations.begin(session.client, code, options);
    agent.evaluations.present(evaluation, {
      answer: (value, { redefinitions }) => loadAnswer(result(value), redefinitions, test === true, context.guide),
      unfinished: async () => loadProgressBlocks(await known(progress)),
      tellsWarnings: true,
    });
    const seconds = timeout ?? config.timeout;
    const conclusion = await concludeEvaluation(evaluation, session, context, seconds).catch(async (error: unknown) => {
      await noticeOfRest(progress, context);
      throw error;
    });
    return presentedAnswer(evaluation, conclusion, context);
  },
});

type Progress = () => Promise<LoadResult | undefined>;

/** What is loaded so far, unless the image is gone or busy. */
async function known(progress: Progress): Promise<LoadResult | undefined> {
  return progress().catch(() => undefined);
}

/** A cancelled call has no answer, so the next answer says what it has loaded. */
async function noticeOfRest(progress: Progress, { cancelled, agent }: ToolContext): Promise<void> {
  if (!cancelled.aborted) return;
  const text = cancelledText(await known(progress));
  if (text !== undefined) agent.notices.add(text);
}

function sourceOf(system: string | undefined, file: string | undefined, test: boolean): LoadSource {
  if (system !== undefined && file === undefined) return { system };
  if (file !== undefined && system === undefined) {
    if (!test || isSystemFile(file)) return { file };
    throw misused("Only a system has test systems, and this file is no .asd file.");
  }
  throw misused("Give either a system or a file.");
}

function misused(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENTS", `load-system: ${message}`, {
    remedy: "Correct this and call again. load-system takes the name of a system, or a .lisp or .asd file.",
  });
}
