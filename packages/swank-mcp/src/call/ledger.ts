import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import * as z from "zod";
import { isJsonObject, type ToolAnswer } from "../base/answer.js";
import { appendOwn, type Log } from "../base/log.js";
import { OUTCOME_META } from "../report/data.js";
import { isApart } from "../report/report.js";
import type { ApprovalAnswer } from "../session/approval-places.js";
import { type ApprovalRequest, actionText } from "../session/approval-prompt.js";
import type { AgentName } from "../session/image.js";
import { cut, oneLine, shown } from "../text/cut.js";
import type { CallEntry, CallRecorder, RecordedCall } from "./recorder.js";

const MAX_NAME = 100;

/** Writes a line for each finished call to the log, without its arguments and its answer, since they may be secret. */
export function callLog(log: Log): CallRecorder {
  return {
    begin: ({ name }) => ({
      end(answer, milliseconds) {
        const tool = typeof name === "string" && /^[\w-]+$/.test(name) ? oneLine(name, MAX_NAME) : shown(name);
        log(`call ${tool}: ${outcomeOf(answer)}, ${Math.round(milliseconds)} ms`);
      },
    }),
  };
}

/** Derives a call's outcome from its answer: `ok`, the status of the evaluation, or the code of the refusal. */
export function outcomeOf({ structured, meta, isError }: ToolAnswer): string {
  const refusal = isError ? textAt(structured, "error", "data", "type") : undefined;
  return refusal ?? textAt(meta, OUTCOME_META, "status") ?? "ok";
}

function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  let found = value;
  for (const key of path) found = isJsonObject(found) ? found[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

/** Most characters of a text in a line of the ledger, and of the texts of a list together. */
const MAX_TEXT = 20_000;

const MAX_ITEMS = 100;

/** Cuts the texts of one line, and counts what it leaves out by field. */
class LedgerCuts {
  readonly #leftOut: Record<string, number> = {};

  text(field: string, text: string): string {
    const kept = cut(text, MAX_TEXT, "");
    this.#count(field, text.length - kept.length);
    return kept;
  }

  /** The texts, as many as fit. A text that does not fit is cut, and later ones are left out. */
  texts(field: string, texts: readonly string[]): readonly string[] {
    let room = MAX_TEXT;
    const kept: string[] = [];
    for (const text of texts) {
      if (room === 0 || kept.length === MAX_ITEMS) break;
      const part = cut(text, room, "");
      kept.push(part);
      room = part.length === text.length ? room - part.length : 0;
    }
    this.#count(field, lengthOf(texts) - lengthOf(kept));
    if (kept.length < texts.length) this.#count(`${field}_items`, texts.length - kept.length);
    return kept;
  }

  /** The data, or the beginning of its JSON text if that is too long. */
  data(field: string, data: unknown): unknown {
    const text = JSON.stringify(data) ?? "null";
    return text.length <= MAX_TEXT ? data : this.text(field, text);
  }

  /** The number of characters left out of each field, as a field of the line; none if nothing was. */
  get field(): { readonly cut?: Readonly<Record<string, number>> } {
    return Object.keys(this.#leftOut).length === 0 ? {} : { cut: this.#leftOut };
  }

  #count(field: string, leftOut: number): void {
    if (leftOut > 0) this.#leftOut[field] = leftOut;
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

const outcomeSchema = z.looseObject({
  status: z.string(),
  values: z.array(z.string()).default([]),
  stdout: z.string().default(""),
  stderr: z.string().default(""),
  thread: z.number().optional(),
  level: z.number().optional(),
});

/** Writes what one agent does to a ledger: a line when a call begins, when the user is asked and has answered, and when the call ends. */
export class CallLedger implements CallRecorder {
  readonly #append: (line: LedgerLine) => void;
  readonly #agent: AgentName;
  #calls = 0;

  constructor(append: (line: LedgerLine) => void, agent: AgentName) {
    this.#append = append;
    this.#agent = agent;
  }

  begin({ name, args }: RecordedCall): CallEntry {
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
      ended: (id, report, milliseconds) => write("background-end", { id, ...endFields(report, milliseconds) }),
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
  // Any other report has it.
  const apart = outcome?.status === "returned" ? answer.blocks.filter(isApart) : [];
  return {
    outcome: outcomeOf(answer),
    is_error: answer.isError,
    milliseconds: Math.round(milliseconds),
    ...(outcome === undefined ? {} : outputFields(outcome, cuts)),
    ...(apart.length === 0 ? {} : { output_apart: cuts.text("output_apart", apart.join("\n\n")) }),
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

const NEWLINE = 0x0a;

/** Does not block if the file is a pipe. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type LedgerLine = Readonly<Record<string, unknown>>;

/**
 * Appends lines of JSON to a file of this user, each at once, with one write, so that several processes can share the file. Never throws: the
 * first failure is reported, and the first line after a failure is `{"event": "gap", "left_out": N}`.
 */
export class LedgerFile {
  readonly #path: string;
  readonly #report: (problem: string) => void;
  #isReported = false;
  #leftOut = 0;
  /** Whether the last line of the file may have no end: this process or an earlier one could write only a part. */
  #mayBeTorn = true;

  /** @param report - Called with the first failure, a sentence. */
  constructor(path: string, report: (problem: string) => void) {
    this.#path = path;
    this.#report = report;
    this.#write("");
  }

  append(line: LedgerLine): void {
    if (this.#leftOut > 0 && this.#write(textOf(gap(this.#leftOut)))) this.#leftOut = 0;
    if (this.#leftOut > 0 || !this.#write(textOf(line))) this.#leftOut += 1;
  }

  #write(text: string): boolean {
    try {
      appendOwn(this.#path, this.#mayBeTorn && endsInside(this.#path) ? `\n${text}` : text, "--ledger");
      this.#mayBeTorn = text === "";
      return true;
    } catch (error) {
      this.#mayBeTorn = true;
      if (!this.#isReported) this.#report(error instanceof Error ? error.message : String(error));
      this.#isReported = true;
      return false;
    }
  }
}

/** How often the end of the file is looked at, and the milliseconds between two looks. */
const LOOKS = 50;

const PAUSE = 10;

/**
 * Whether the last line has no end. Otherwise the next line would continue it. A line that another process is writing gets its end soon, and
 * needs none from here.
 */
function endsInside(path: string): boolean {
  for (let look = 1; endsInsideNow(path); look++) {
    if (look === LOOKS) return true;
    Atomics.wait(CLOCK, 0, 0, PAUSE);
  }
  return false;
}

/** Never changes: a wait for it is a pause. */
const CLOCK = new Int32Array(new SharedArrayBuffer(4));

function endsInsideNow(path: string): boolean {
  try {
    const file = openSync(path, READING);
    try {
      const last = Buffer.alloc(1, NEWLINE);
      const { size } = fstatSync(file);
      if (size > 0) readSync(file, last, 0, 1, size - 1);
      return last[0] !== NEWLINE;
    } finally {
      closeSync(file);
    }
  } catch {
    // Appending reports what is wrong.
    return false;
  }
}

function gap(leftOut: number): LedgerLine {
  return { time: new Date().toISOString(), event: "gap", server: process.pid, left_out: leftOut };
}

function textOf(line: LedgerLine): string {
  return `${JSON.stringify(line)}\n`;
}
