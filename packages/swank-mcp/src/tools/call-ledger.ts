import * as z from "zod";
import { type ApprovalRequest, actionText } from "../agent/approval-request.js";
import type { ApprovalAnswer, ApprovalWatch } from "../agent/approval-watch.js";
import type { ToolCall } from "../calls/run-tool.js";
import { OUTCOME_META } from "../format/outcome-data.js";
import type { AgentName } from "../image/agent-name.js";
import type { LedgerLine } from "../process/ledger-file.js";
import { oneLine } from "../text/cut.js";
import type { ToolAnswer } from "../text/tool-answer.js";
import { outcomeOf } from "./call-line.js";
import { LedgerCuts } from "./ledger-text.js";

/** Most characters of a tool's name. */
const MAX_NAME = 100;

/** The facts of an evaluation that a line has. */
const outcomeSchema = z.looseObject({
  status: z.string(),
  values: z.array(z.string()).default([]),
  stdout: z.string().default(""),
  stderr: z.string().default(""),
  thread: z.number().optional(),
  level: z.number().optional(),
});

/** One call in the ledger. It learns of the call's approvals. */
export interface LedgerEntry extends ApprovalWatch {
  end(answer: ToolAnswer, milliseconds: number): void;
}

/** Writes what one agent does to a ledger: a line when a call begins, when the user is asked and has answered, and when the call ends. */
export class CallLedger {
  readonly #append: (line: LedgerLine) => void;
  readonly #agent: AgentName;
  #calls = 0;

  constructor(append: (line: LedgerLine) => void, agent: AgentName) {
    this.#append = append;
    this.#agent = agent;
  }

  /** Writes that a call has begun. */
  begin({ name, args }: Pick<ToolCall, "name" | "args">): LedgerEntry {
    this.#calls += 1;
    const call = this.#calls;
    const tool = oneLine(String(name), MAX_NAME);
    const write = (event: string, fields: LedgerLine) =>
      this.#append({
        time: new Date().toISOString(),
        event,
        server: process.pid,
        agent: this.#agent.text,
        call,
        tool,
        ...fields,
      });
    write("call", sentFields(args));
    return {
      asked(request, where) {
        write("asked", { where, ...requestFields(request) });
        return (answer) => write("answered", answerFields(answer));
      },
      decided: (request, answer) => write("answered", { ...requestFields(request), ...answerFields(answer) }),
      end: (answer, milliseconds) => write("end", endFields(answer, milliseconds)),
    };
  }
}

/** The code on its own, so that it can be found and read. */
function sentFields(args: unknown): LedgerLine {
  const cuts = new LedgerCuts();
  const { code, ...rest } = z.looseObject({ code: z.string().optional() }).safeParse(args).data ?? { rest: args };
  const others = code === undefined ? (args ?? {}) : rest;
  return {
    ...(typeof code === "string" ? { code: cuts.text("code", code) } : {}),
    arguments: cuts.data("arguments", others),
    ...cuts.field,
  };
}

function requestFields(request: ApprovalRequest): LedgerLine {
  const cuts = new LedgerCuts();
  return {
    operation: request.operation,
    action: cuts.text("action", actionText(request)),
    particulars: cuts.data("particulars", Object.fromEntries(request.particulars)),
    ...cuts.field,
  };
}

function answerFields({ isAllowed, by, how }: ApprovalAnswer): LedgerLine {
  return { allowed: isAllowed, by, how };
}

function endFields(answer: ToolAnswer, milliseconds: number): LedgerLine {
  const cuts = new LedgerCuts();
  const outcome = outcomeSchema.safeParse(answer.meta?.[OUTCOME_META]).data;
  return {
    outcome: outcomeOf(answer),
    is_error: answer.isError,
    milliseconds: Math.round(milliseconds),
    ...(outcome === undefined ? {} : outputFields(outcome, cuts)),
    ...(outcome?.status === "returned"
      ? { values: cuts.texts("values", outcome.values) }
      : { report: cuts.text("report", answer.blocks.join("\n")) }),
    ...cuts.field,
  };
}

function outputFields({ stdout, stderr, thread, level }: z.output<typeof outcomeSchema>, cuts: LedgerCuts): LedgerLine {
  return {
    ...(stdout === "" ? {} : { stdout: cuts.text("stdout", stdout) }),
    ...(stderr === "" ? {} : { stderr: cuts.text("stderr", stderr) }),
    ...(level === undefined ? {} : { stop: `${thread}/${level}` }),
  };
}
