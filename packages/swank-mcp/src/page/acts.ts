import { DEFINITION_KINDS, type types } from "swank-client";
import * as z from "zod";
import type { ToolAnswer } from "../base/answer.js";
import { outcomeOf } from "../call/ledger.js";
import type { AgentSession } from "../session/agent.js";
import type { LispSession } from "../session/image.js";
import type { DebuggedStop } from "../session/lisp-port.js";
import { cutName, cutText, oneLine } from "../text/cut.js";
import { SAVE_OUTCOMES } from "../tools/save-changes.js";
import type { ToolServer } from "../tools/tool-server.js";
import type { ImageWatch } from "./image-watch.js";
import { askImage, type LookSources } from "./looks.js";
import type { PageReply } from "./model.js";
import { PageRefusal, readWith, replyWith } from "./reply.js";

/** Milliseconds that code in a frame, and values for a restart, have. */
const CODE_TIME = 30_000;

/** Milliseconds that the form of a file has when it is evaluated again. */
const UNDO_TIME = 60_000;

/** Most characters of code that a notice to an agent repeats. */
const MAX_CODE = 300;

/** What acts are done with. */
export interface ActParts extends Pick<LookSources, "stops" | "onDefect"> {
  /** The tools of the person, for evaluations with a package and a last error of their own. */
  readonly person: ToolServer;
  readonly watch: Pick<ImageWatch, "record" | "refresh" | "servedAs" | "session">;
  /** The agents of this server by `PageAgent.id`. */
  served(): ReadonlyMap<string, AgentSession>;
  readonly isReadOnly: boolean;
}

const index = z.int().min(0);

const atStop = { thread: index, level: z.int().min(1) };

const text = z.string().min(1);

const ofDefinition = { kind: z.string(), name: text, file: text.optional() };

const ACTS = z.discriminatedUnion("act", [
  z.strictObject({ act: z.literal("answer"), question: index, answer: z.enum(["yes", "no", "stop"]) }),
  z.strictObject({ act: z.literal("restart"), ...atStop, index, values: z.array(z.string()) }),
  z.strictObject({ act: z.literal("eval-in-frame"), ...atStop, frame: index, code: text }),
  z.strictObject({ act: z.literal("evaluate"), code: text, package: text.optional() }),
  z.strictObject({ act: z.literal("interrupt"), thread: index }),
  z.strictObject({ act: z.enum(["pause", "resume", "throw-out", "let-back"]), agent: text }),
  z.strictObject({ act: z.literal("tell"), agent: text.optional(), text, place: text.optional() }),
  z.strictObject({ act: z.enum(["undo", "save"]), ...ofDefinition }),
]);

type Checked = z.output<typeof ACTS>;

type Of<Name extends Checked["act"]> = Extract<Checked, { act: Name }>;

type SteeringAct = "pause" | "resume" | "throw-out" | "let-back";

/** Does what the person at the page wants, and says what was done. */
export class PageActs {
  readonly #parts: ActParts;

  constructor(parts: ActParts) {
    this.#parts = parts;
  }

  /**
   * Does `sent`, an `Act` that nothing has checked. Never rejects.
   *
   * @param signal - Aborted when nobody waits for the answer any more. What has begun goes on: a reload of the page must not end it.
   */
  answer(sent: unknown, signal: AbortSignal): Promise<PageReply<string>> {
    const { isReadOnly, onDefect } = this.#parts;
    return replyWith(() => (isReadOnly ? refuse() : this.#do(readWith(ACTS, sent), signal)), onDefect);
  }

  async #do(act: Checked, signal: AbortSignal): Promise<string> {
    switch (act.act) {
      case "evaluate":
        return this.#evaluate(act);
      case "pause":
      case "resume":
      case "throw-out":
      case "let-back":
        return this.#steer(act.act, act.agent, signal);
      case "tell":
        return this.#tell(act, signal);
      default: {
        const { watch } = this.#parts;
        const session = await watch.session(signal);
        const done = await askImage(session, signal, () => this.#doInImage(act, session, signal));
        watch.refresh();
        return done;
      }
    }
  }

  async #doInImage(
    act: Of<"answer" | "restart" | "eval-in-frame" | "interrupt" | "undo" | "save">,
    session: LispSession,
    signal: AbortSignal,
  ): Promise<string> {
    switch (act.act) {
      case "answer":
        return this.#answerQuestion(act, session);
      case "restart":
        return this.#restart(act, session);
      case "eval-in-frame":
        return this.#evaluateInFrame(act, session);
      case "interrupt":
        return this.#interrupt(act.thread, session, signal);
      case "undo":
        return this.#tellAll(await undone(act, session));
      case "save":
        return this.#tellAll(await saved(act, session, signal));
    }
  }

  async #answerQuestion({ question, answer }: Of<"answer">, { client }: LispSession): Promise<string> {
    // The image takes it for a no.
    if (answer === "stop" && !this.#parts.watch.record.isForStop(question))
      throw new PageRefusal("INVALID_ARGUMENTS", "Only a question about a stop can be allowed for the whole stop.");
    const takeBack = this.#parts.watch.record.answering(question);
    const counts = await client.activity.answer(question, answer);
    if (counts) return { yes: "Allowed.", no: "Refused.", stop: "Allowed for this stop." }[answer];
    takeBack();
    throw new PageRefusal("TOO_LATE", "The question was answered elsewhere, or has ended.");
  }

  async #restart({ thread, level, index, values }: Of<"restart">, session: LispSession): Promise<string> {
    const stop = await this.#parts.stops.find(session, thread, level);
    // Its outcome is one of the person's own calls.
    if (stop.evaluation !== undefined)
      return this.#call("debugger_invoke_restart", { restart: index + 1, values, thread: `${thread}/${level}` });
    const name = stop.restarts.find((restart) => restart.index === index)?.name ?? "";
    await stop.invokeRestart(index, values, { timeout: CODE_TIME });
    const done = `invoked restart ${name === "" ? index + 1 : cutName(name)} in thread ${thread}/${level}`;
    this.#tellOwner(stop, done);
    return sentence(done);
  }

  async #evaluateInFrame(act: Of<"eval-in-frame">, session: LispSession): Promise<string> {
    const { thread, level, frame, code } = act;
    const stop = await this.#parts.stops.find(session, thread, level);
    const { maxValue } = this.#parts.person.agent.config;
    const value = await stop.evaluateInFrame(frame, code, { timeout: CODE_TIME, valueLimit: maxValue });
    this.#tellOwner(stop, `evaluated ${oneLine(code, MAX_CODE)} in frame ${frame} of thread ${thread}/${level}`);
    return frameText(value);
  }

  /** The person's own call, which is listed like an agent's. */
  #evaluate({ code, package: packageName }: Of<"evaluate">): Promise<string> {
    return this.#call("evaluate-lisp", { code, ...(packageName === undefined ? {} : { package: packageName }) });
  }

  async #call(name: string, args: object): Promise<string> {
    const { signal } = new AbortController();
    const answer = await this.#parts.person.call({ name, args, signal, progress: () => undefined });
    this.#parts.watch.refresh();
    if (isRefusal(answer)) throw new PageRefusal(outcomeOf(answer), answer.blocks.join("\n"));
    return answer.blocks.join("\n\n");
  }

  async #interrupt(thread: number, session: LispSession, signal: AbortSignal): Promise<string> {
    const { program } = session.client;
    const { threads } = await program.threads({ id: thread, signal });
    const owner = threads[0]?.owner?.agent;
    const served = this.#parts.watch.servedAs(owner);
    // Before the agent's own call can tell that its thread has stopped.
    served?.onNotice(`The user interrupts thread ${thread}.`);
    try {
      await program.stopThread(thread);
    } catch (error) {
      served?.onNotice(`Thread ${thread} was not interrupted.`);
      throw error;
    }
    return `Interrupted thread ${thread}.`;
  }

  async #steer(how: SteeringAct, id: string, signal: AbortSignal): Promise<string> {
    const served = this.#parts.served().get(id);
    if (served === this.#parts.person.agent) throw new PageRefusal("NOT_AVAILABLE", "You are the person at this page.");
    if (served !== undefined) return steerServed(how, served);
    const name = this.#parts.watch.record.nameOf(id);
    if (name === undefined) throw noAgent(id);
    const session = await this.#parts.watch.session(signal);
    return askImage(session, signal, () => this.#steerOther(how, name, session));
  }

  async #steerOther(how: SteeringAct, name: string, { client }: LispSession): Promise<string> {
    const shown = cutName(name);
    if (how === "let-back")
      throw new PageRefusal(
        "NOT_AVAILABLE",
        `Only the server of ${shown} lets it back: at a page of its own, or when it is started again.`,
      );
    if (how === "throw-out") {
      const fate = await client.activity.kick(name);
      if (fate === undefined) throw notSteered(name);
      return fate === "kicked"
        ? `Disconnected ${shown}.`
        : `Ended what ${shown} ran. Its image would end with its connection.`;
    }
    const isPaused = how === "pause";
    if (!(await client.activity.pause(name, isPaused))) throw notSteered(name);
    this.#parts.watch.record.setPaused(name, isPaused);
    return isPaused ? `Paused ${shown}: its next calls wait.` : `Resumed ${shown}.`;
  }

  async #tell({ agent: id, text, place }: Of<"tell">, signal: AbortSignal): Promise<string> {
    const { watch } = this.#parts;
    const served = [...this.#parts.served()].filter(
      ([key, agent]) => agent !== this.#parts.person.agent && (id === undefined || key === id),
    );
    for (const [, agent] of served) agent.onUserAsks({ text, place });
    const names = id === undefined ? watch.record.names : [watch.record.nameOf(id) ?? []].flat();
    const others = await this.#tellOthers(names, { text, place }, signal).catch((error: unknown) => {
      if (served.length === 0) throw error;
      return undefined;
    });
    const all = [...served.map(([, { name }]) => name.text), ...(others ?? [])];
    if (all.length === 0) throw id === undefined ? new PageRefusal("NO_SUCH_AGENT", "There is no agent.") : noAgent(id);
    const told = `Told ${namesText(all)}: the next answer of each says it.`;
    return others === undefined ? `${told} Not told, because the image does not answer: ${namesText(names)}.` : told;
  }

  /** Tells agents of other servers. @returns the names of those that get it */
  async #tellOthers(
    names: readonly string[],
    { text, place }: Pick<Of<"tell">, "text" | "place">,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    if (names.length === 0) return [];
    const session = await this.#parts.watch.session(signal);
    const { activity } = session.client;
    const told = names.map((name) => askImage(session, signal, () => activity.tell(name, text, place)));
    return (await Promise.all(told)).flat();
  }

  /** Tells the agents of this server what was done to a definition: whose it was is not known. */
  #tellAll(done: string): string {
    const { person } = this.#parts;
    for (const agent of this.#parts.served().values())
      if (agent !== person.agent) agent.onNotice(`The user did this: ${done}`);
    return done;
  }

  /** Tells an agent of this server what was done in its thread. */
  #tellOwner({ owner }: DebuggedStop, done: string): void {
    this.#parts.watch.servedAs(owner?.agent)?.onNotice(`The user ${done}.`);
  }
}

async function refuse(): Promise<never> {
  throw new PageRefusal(
    "READ_ONLY",
    "This page only shows: the server was started with --page-read-only.",
    "Start it without --page-read-only to act here.",
  );
}

function namesText(names: readonly string[]): string {
  return names.map((name) => cutName(name)).join(", ");
}

function sentence(done: string): string {
  return `${done.charAt(0).toUpperCase()}${done.slice(1)}.`;
}

/** Whether a tool did not do what it was called for. A report of an error in the evaluated code is no refusal. */
function isRefusal({ isError, structured }: ToolAnswer): boolean {
  return isError && structured?.["error"] !== undefined;
}

function frameText({ stdout, stderr, values, set }: types.FrameValue): string {
  const lines = [
    ...[stdout, stderr].filter((output) => output !== "").map((output) => output.trimEnd()),
    ...(values.length === 0 ? ["; No values"] : values.map((value) => `=> ${value}`)),
    ...(set.length === 0 ? [] : [`; Set ${set.map((name) => cutName(name)).join(", ")}`]),
  ];
  return cutText(lines.join("\n"));
}

function steerServed(how: SteeringAct, { steering, name }: AgentSession): string {
  const shown = cutName(name.text);
  switch (how) {
    case "pause":
      steering.pause();
      return `Paused ${shown}: its next calls wait.`;
    case "resume":
      steering.resume();
      return `Resumed ${shown}.`;
    case "throw-out":
      steering.throwOut();
      return `Threw out ${shown}: what it ran ends, and its calls are refused.`;
    case "let-back":
      steering.letBack();
      return `Let ${shown} back.`;
  }
}

function noAgent(id: string): PageRefusal {
  return new PageRefusal("NO_SUCH_AGENT", `The agent ${JSON.stringify(cutName(id))} has left.`);
}

function notSteered(name: string): PageRefusal {
  return new PageRefusal("NO_SUCH_AGENT", `${cutName(name)} has left, or an older version of swank-mcp serves it.`);
}

async function saved(
  { name, kind, file }: Of<"undo" | "save">,
  { client }: LispSession,
  signal: AbortSignal,
): Promise<string> {
  const saves = await client.code.saveChanges({ name, file, dryRun: false, signal });
  if (saves.status !== "found")
    throw new PageRefusal("NOT_SAVED", `${cutName(name)} was not saved: there is no such definition, or no such file.`);
  const found = saves.saves.filter((save) => save.kind === kind || save.kind === undefined);
  const [save] = found;
  if (save === undefined) throw new PageRefusal("NOT_SAVED", `Nothing to save: the file has the same text.`);
  const shown = `${kind} ${cutName(save.name)}`;
  if (save.outcome !== "saved")
    throw new PageRefusal("NOT_SAVED", sentence(`${shown}: ${SAVE_OUTCOMES[save.outcome]}`));
  return `Saved ${shown} to ${save.file ?? file ?? "its file"}.`;
}

/** Why a definition was not undone. */
const NOT_UNDONE: Readonly<Record<types.UndoRefusal, string>> = {
  undefined: "nothing is defined by that name",
  unchanged: "it is as in its file, or nobody is known to have evaluated it",
  ambiguous: "several definitions have that name",
  kind: "no file has it, and only functions, macros, variables and methods are removed",
  extended: "no file has it, but it has methods that are not to be removed",
  locked: "its package is locked",
};

async function undone({ name, kind }: Of<"undo" | "save">, { client }: LispSession): Promise<string> {
  const wanted = DEFINITION_KINDS.find((known) => known === kind);
  const options = { onError: "unwind", timeout: UNDO_TIME } as const;
  const found = await client.code
    .undoDefinition(name, { ...options, ...(wanted === undefined ? {} : { kind: wanted }) })
    .result();
  const shown = `${kind} ${cutName(name)}`;
  if (found.status === "removed") return `Removed ${shown}, which no file has.`;
  if (found.status === "loaded") return `Undid ${shown}: the form of its file was evaluated again.`;
  const [note] = found.status === "incomplete" ? found.notes : [];
  const why =
    found.status === "refused" ? NOT_UNDONE[found.reason] : (note?.message ?? "the form of its file was not evaluated");
  throw new PageRefusal("NOT_UNDONE", `${shown} was not undone: ${oneLine(why, MAX_CODE)}.`);
}
