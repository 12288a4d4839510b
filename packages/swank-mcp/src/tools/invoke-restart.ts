import { SwankError, type types } from "swank-client";
import * as z from "zod";
import { type ToolAnswer, withNotices } from "../base/answer.js";
import { Refusal } from "../base/refusals.js";
import { answerResumed } from "../call/evaluate.js";
import {
  callOf,
  checkFrame,
  defineStopTool,
  isAbort,
  type ReadOnlyStop,
  restartRequest,
  type StopRequest,
} from "../call/stop-tool.js";
import { stdinInput, threadInput, timeoutInput } from "../call/tool.js";
import { restartNames, restartNumbers } from "../report/stop.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutName, oneLine } from "../text/cut.js";

const MAX_SHOWN = 200;

/** A way to leave a stop: one of its restarts, or restarting or returning from a frame. */
type RestartChoice =
  | {
      readonly kind: "restart";
      readonly restart: types.Restart;
      /** The other restarts of the wanted name, if it was chosen by name. */
      readonly namesakes: readonly types.Restart[];
    }
  | { readonly kind: "restart-frame"; readonly frame: number }
  | { readonly kind: "return-from-frame"; readonly frame: number; readonly code: string };

/**
 * Finds the restart that an agent names by a number from 1 or a name. An exact name wins over one in another case, and the innermost
 * restart of a name counts. The stop's own restarts win over `RESTART-FRAME`, whose value is a frame's index, and `RETURN-FROM-FRAME`,
 * whose values are a frame's index and an expression.
 *
 * @throws Refusal `NO_SUCH_RESTART`, `INVALID_RESTART_VALUES`
 */
export function chooseRestart(
  stop: Pick<DebuggedStop, "restarts">,
  wanted: number | string,
  values: readonly string[],
): RestartChoice {
  const [restart, ...namesakes] = offered(stop.restarts, wanted);
  if (restart !== undefined) return { kind: "restart", restart, namesakes };
  switch (nameOf(wanted)) {
    case "RESTART-FRAME":
      return { kind: "restart-frame", frame: frameOf(values, 1) };
    case "RETURN-FROM-FRAME":
      return { kind: "return-from-frame", frame: frameOf(values, 2), code: values[1] ?? "" };
    default:
      throw noSuchRestart(stop.restarts, wanted);
  }
}

/** A sentence that says which restart of several with one name was invoked; `undefined` if the choice was clear. */
export function restartTaken(choice: RestartChoice): string | undefined {
  if (choice.kind !== "restart" || choice.namesakes.length === 0) return undefined;
  const { restart, namesakes } = choice;
  return `Invoked restart ${restart.index + 1}, the innermost ${cutName(restart.name)}. Others of this name: ${restartNumbers(namesakes)}.`;
}

/**
 * The answer to a call that has left a stop as chosen, which says which restart of several with one name was invoked, and, if that led to an
 * error, that Lisp could not check its values.
 */
export function withRestartTaken(
  answer: ToolAnswer,
  choice: RestartChoice,
  values: readonly string[] = [],
): ToolAnswer {
  const taken = restartTaken(choice);
  const isUnchecked = choice.kind === "restart" && choice.restart.arguments === undefined && values.length > 0;
  const notices = [
    ...(taken === undefined ? [] : [taken]),
    ...(isUnchecked && answer.isError
      ? ["It is not known which values that restart takes: they were not checked."]
      : []),
  ];
  return notices.length === 0 ? answer : withNotices(answer, notices);
}

/** The restarts with the wanted number or name, the innermost first. */
function offered(restarts: readonly types.Restart[], wanted: number | string): readonly types.Restart[] {
  const exact = restarts.filter(({ name }) => name !== "" && name === wanted);
  if (exact.length > 0) return exact;
  const number = numberOf(wanted);
  if (number !== undefined) return restarts.filter(({ index }) => index + 1 === number);
  const name = nameOf(wanted);
  return name === "" ? [] : restarts.filter((restart) => restart.name.toUpperCase() === name);
}

function numberOf(wanted: number | string): number | undefined {
  if (typeof wanted === "number") return wanted;
  return /^\d+$/.test(wanted.trim()) ? Number(wanted) : undefined;
}

/** The restart's name without a package and bars, as restarts are listed. */
function nameOf(wanted: number | string): string {
  return String(wanted)
    .trim()
    .replace(/^.*:/, "")
    .replace(/^\|(.*)\|$/, "$1")
    .toUpperCase();
}

function frameOf(values: readonly string[], count: number): number {
  const [frame = ""] = values;
  if (values.length === count && /^\d+\.?$/.test(frame.trim())) return Number(frame);
  const expected = count === 1 ? '["2"]' : '["2", "(list 1)"]';
  throw new Refusal("INVALID_RESTART_VALUES", "The first of the values is the index of a frame.", {
    remedy: `For example, values: ${expected}. debugger_frames lists the frames. The stop is unchanged.`,
  });
}

function noSuchRestart(restarts: readonly types.Restart[], wanted: number | string): Refusal {
  return new Refusal(
    "NO_SUCH_RESTART",
    `There is no restart ${oneLine(JSON.stringify(numberOf(wanted) ?? wanted), MAX_SHOWN)} at this stop.`,
    {
      remedy: `Choose one of: ${restartNames(restarts)}. debugger_restarts describes them. The stop is unchanged.`,
    },
  );
}

export const debuggerInvokeRestart = defineStopTool({
  name: "debugger_invoke_restart",
  family: "debug",
  effect: "resumes",
  title: "Invoke restart",
  description:
    'Invoke a restart and report the outcome of the stopped evaluation. Besides the listed restarts: RESTART-FRAME, values ["frame"], calls the frame\'s function again in its current definition; RETURN-FROM-FRAME, values ["frame", "expression"], returns from the frame. RETRY repeats all side effects of the form: prefer these two and the program\'s own restarts.',
  input: (config) =>
    z.strictObject({
      restart: z.union([z.int(), z.string()]).describe("Number from 1, or name"),
      values: z.array(z.string()).default([]).describe("Lisp expressions, one each"),
      thread: threadInput,
      stdin: stdinInput,
      timeout: timeoutInput(config),
    }),
  async plan({ restart, values, stdin, timeout }, stop, context) {
    const choice = chooseRestart(stop, restart, values);
    if (choice.kind !== "restart") {
      checkFrame(choice.frame, stop);
      if (stdin !== undefined) throw noInputForFrame();
    }
    const seconds = timeout ?? context.config.timeout;
    const wait = { timeout: seconds * 1000, signal: context.signal };
    return {
      request: await requestTo(choice, stop, values, stdin),
      isAbort: choice.kind === "restart" && isAbort(choice.restart, stop),
      async act(found) {
        const answer = await answerResumed(
          found,
          () => invoke(found.stop, choice, values, wait, stdin),
          context,
          seconds,
        );
        return withRestartTaken(answer, choice, values);
      },
    };
  },
});

async function requestTo(
  choice: RestartChoice,
  stop: ReadOnlyStop,
  values: readonly string[],
  stdin: string | undefined,
): Promise<StopRequest> {
  if (choice.kind === "restart") return restartRequest(choice.restart, values, stop, stdin);
  const call = ["Frame", await callOf(choice.frame, stop)] as const;
  return {
    operation: ":modify-restarts",
    circumstances: [`Thread ${stop.thread}/${stop.level}, stopped by ${stop.condition.type}`],
    ...(choice.kind === "restart-frame"
      ? { action: `call frame #${choice.frame} again`, particulars: [call] }
      : { action: `return a value from frame #${choice.frame}`, particulars: [call, ["Value", choice.code] as const] }),
  };
}

function noInputForFrame(): Refusal {
  return new Refusal("INVALID_RESTART_VALUES", "RESTART-FRAME and RETURN-FROM-FRAME take no stdin.", {
    remedy: "Leave stdin out: the code that goes on reads what the evaluation was given. The stop is unchanged.",
  });
}

async function invoke(
  stop: DebuggedStop,
  choice: RestartChoice,
  values: readonly string[],
  wait: types.WaitOptions,
  stdin: string | undefined,
): Promise<void> {
  switch (choice.kind) {
    case "restart":
      return withValues(() => stop.invokeRestart(choice.restart.index, values, { ...wait, stdin }));
    case "restart-frame":
      return stop.restartFrame(choice.frame);
    case "return-from-frame":
      return stop.returnFromFrame(choice.frame, choice.code, wait);
  }
}

/** Runs the action. The client reports bad restart values as `INVALID_ARGUMENT`; the tool's other arguments are already checked. */
async function withValues(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    // The remedy names the problem with these values.
    if (error instanceof SwankError && error.code === "INVALID_ARGUMENT")
      throw new Refusal("INVALID_RESTART_VALUES", error.message, { cause: error, remedy: error.remedy });
    throw error;
  }
}
