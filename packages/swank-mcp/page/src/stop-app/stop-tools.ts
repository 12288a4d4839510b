import type { Act, Looks, PageFrame, PageReply, PageSource, PageStop, PageVariable } from "../../../src/page/model.js";
import { PageError } from "../context.js";
import type { FrameData, Host, Outcome, ToolResult, VariableData } from "./host.js";

/** Frames in one page. */
const PAGE = 20;

/** Most characters of an answer that the agent is told. */
const MOST_TOLD = 4000;

/** Marks of a variable that the page shows. */
const MARKS = ["argument", "shadowed", "unavailable"] as const;

/** The restarts of the standard that take no values. Of others, the tools do not say how many they take. */
const WITHOUT_VALUES: readonly string[] = ["ABORT", "CONTINUE", "MUFFLE-WARNING"];

/** A stop, or how the call has ended. */
export type Shown =
  | { readonly kind: "stop"; readonly stop: PageStop }
  | { readonly kind: "end"; readonly title: string; readonly text: string; readonly isError: boolean };

const TITLES: Readonly<Record<string, string>> = {
  returned: "Returned",
  aborted: "Aborted",
  lost: "The image is lost",
  running: "Still running",
  stopped: "This stop has ended",
};

/** Answers what the parts of the page ask, by the server's tools. */
export class StopTools {
  readonly #host: Host;
  readonly #onResult: (result: ToolResult) => void;
  #slots: Looks["stop"]["result"]["slots"] = [];
  #stop: PageStop | undefined;

  /** @param onResult - Called with the answer of a call that has left the stop. */
  constructor(host: Host, onResult: (result: ToolResult) => void) {
    this.#host = host;
    this.#onResult = onResult;
  }

  /** What an answer is about. */
  async read(result: ToolResult): Promise<Shown> {
    const outcome = result._meta?.["swank-mcp/outcome"];
    const stop = (await this.#stopOf(outcome)) ?? (await this.#stopAt(result.structuredContent?.thread));
    this.#stop = stop;
    this.#slots = stop === undefined ? [] : (outcome?.error?.slots ?? []);
    if (stop !== undefined) return { kind: "stop", stop };
    const { isError = false } = result;
    const title = TITLES[outcome?.status ?? ""] ?? (isError ? "Refused" : "Answer");
    return { kind: "end", title, text: textOf(result), isError };
  }

  /** The stop of an evaluation that has stopped, if it still is. */
  async #stopOf({ thread, level, stop, error }: Outcome = {}): Promise<PageStop | undefined> {
    if (thread === undefined || level === undefined || stop === undefined || error === undefined) return undefined;
    const restarts = await this.#restarts(`${thread}/${level}`);
    if (restarts === undefined) return undefined;
    const { type, message, timestamp: since = Date.now() } = error;
    return { thread, level, reason: stop.reason ?? "unknown", type, message, since, restarts };
  }

  /** The stop of the tools that only name its place. */
  async #stopAt(place: string | undefined): Promise<PageStop | undefined> {
    if (place === undefined) return undefined;
    const [status, restarts] = await Promise.all([this.#host.callTool("lisp-status", {}), this.#restarts(place)]);
    const found = status.structuredContent?.stopped?.find(({ thread }) => thread === place);
    if (found === undefined || restarts === undefined) return undefined;
    const [thread = 0, level = 0] = place.split("/").map(Number);
    const { type, message, owner, since } = found;
    const begun = since === undefined ? Date.now() : Date.parse(since);
    return {
      thread,
      level,
      reason: "unknown",
      type,
      message,
      since: begun,
      restarts,
      ...(owner === undefined ? {} : { owner }),
    };
  }

  /** `undefined` if the thread is not stopped there any more. Tools count restarts from 1. */
  async #restarts(thread: string): Promise<PageStop["restarts"] | undefined> {
    const { structuredContent, isError } = await this.#host.callTool("debugger_restarts", { thread });
    const restarts = isError === true ? undefined : structuredContent?.restarts;
    return restarts?.map(({ index, name, description }) => ({
      index: index - 1,
      name,
      description,
      ...(WITHOUT_VALUES.includes(name) ? { arguments: { min: 0, max: 0 } } : {}),
    }));
  }

  /** Rejects with a {@link PageError}. */
  readonly look = async <Name extends keyof Looks>(
    name: Name,
    args: Looks[Name]["args"],
  ): Promise<Looks[Name]["result"]> => {
    const answer = this.#looks[name];
    if (answer === undefined) throw new PageError("UNKNOWN", `The app cannot show ${name}.`);
    return answer(args);
  };

  readonly #looks: { readonly [Name in keyof Looks]?: (args: Looks[Name]["args"]) => Promise<Looks[Name]["result"]> } =
    {
      stop: async ({ thread, level }) => {
        const stop = this.#stop;
        if (stop === undefined) throw new PageError("STALE_STOP", "The thread is not stopped any more.");
        return { stop, slots: this.#slots, ...(await this.#frames(thread, level, 0)) };
      },
      frames: ({ thread, level, start }) => this.#frames(thread, level, start),
      frame: async ({ thread, level, frame }) => {
        const place = `${thread}/${level}`;
        const [{ locals = [] }, { frames = [] }] = await Promise.all([
          this.#ask("debugger_frame_locals", { frame, thread: place }),
          this.#ask("debugger_frames", { start: frame, end: frame + 1, internal: true, thread: place }),
        ]);
        const source = sourceOf(frames[0]);
        return { variables: locals.map(variableOf), ...(source === undefined ? {} : { source }) };
      },
      object: async ({ id, start }) => {
        const view = await this.#host.callTool("inspect-object", { object: id, start });
        const data = view._meta?.["swank-mcp/object"];
        if (data === undefined) throw errorOf(view);
        const {
          parts = [],
          facts = [],
          count = parts.length,
          cut = false,
          expression = "",
          looking = 0,
          ...rest
        } = data;
        return { ...rest, parts, facts, count, cut, expression, looking };
      },
    };

  /** A page of frames; those that the report leaves out are Lisp's own. */
  async #frames(thread: number, level: number, start: number) {
    const range = { start, end: start + PAGE, thread: `${thread}/${level}` };
    const [all, relevant] = await Promise.all([
      this.#ask("debugger_frames", { ...range, internal: true }),
      this.#ask("debugger_frames", range),
    ]);
    const own = new Set(relevant.frames?.map(({ index }) => index));
    const frames = (all.frames ?? []).map(({ index, call }): PageFrame => {
      return { index, call, kind: own.has(index) ? "user" : "system", isRestartable: false };
    });
    return { frames, totalFrames: all.total_frames ?? frames.length };
  }

  async #ask(tool: string, args: object) {
    const result = await this.#host.callTool(tool, args);
    if (result.isError === true || result.structuredContent === undefined) throw errorOf(result);
    return result.structuredContent;
  }

  /** Never rejects. */
  readonly act = async (what: Act): Promise<PageReply<string>> => {
    try {
      if (what.act === "restart") return await this.#restart(what);
      if (what.act === "eval-in-frame") return await this.#evaluate(what);
      throw new PageError("UNKNOWN", `The app cannot ${what.act}.`);
    } catch (error) {
      const { code, message } = error instanceof PageError ? error : new PageError("FAILED", String(error));
      return { ok: false, error: { code, message } };
    }
  };

  async #restart({ thread, level, index, values }: Extract<Act, { act: "restart" }>): Promise<PageReply<string>> {
    const place = `${thread}/${level}`;
    const result = await this.#host.callTool("debugger_invoke_restart", { restart: index + 1, values, thread: place });
    if (result.structuredContent?.error !== undefined) throw errorOf(result);
    const name = this.#stop?.restarts.find((each) => each.index === index)?.name || `restart ${index + 1}`;
    const done = `The user invoked ${name}${values.length === 0 ? "" : ` with ${values.join(" ")}`} in thread ${place}.`;
    void this.#host.tellAgent(`${done} The answer was:\n${textOf(result).slice(0, MOST_TOLD)}`);
    this.#onResult(result);
    return { ok: true, value: done };
  }

  async #evaluate({ thread, level, frame, code }: Extract<Act, { act: "eval-in-frame" }>): Promise<PageReply<string>> {
    const result = await this.#host.callTool("debugger_eval_in_frame", { frame, code, thread: `${thread}/${level}` });
    if (result.isError === true) throw errorOf(result);
    return { ok: true, value: textOf(result) };
  }
}

function textOf({ content = [] }: ToolResult): string {
  return content.map(({ text = "" }) => text).join("\n\n");
}

function errorOf(result: ToolResult): PageError {
  const { data } = result.structuredContent?.error ?? {};
  return new PageError(data?.type ?? "FAILED", textOf(result));
}

/** The place of a frame; the tools do not show the lines of a file. */
function sourceOf(frame: FrameData | undefined): PageSource | undefined {
  const { file, line = 0, form } = frame?.source ?? {};
  if (form !== undefined) return { file: "", first: 1, line: 0, lines: form.split("\n") };
  return file === undefined ? undefined : { file, first: line, line, lines: [] };
}

function variableOf({ name, value, object_id: objectId, ...marks }: VariableData): PageVariable {
  return {
    name,
    value,
    marks: MARKS.filter((mark) => marks[mark] === true),
    ...(objectId === undefined ? {} : { objectId }),
  };
}
