import type { types } from "swank-client";
import { cut, cutName, oneLine } from "../text/cut.js";
import { visibleLine, visibleText } from "../text/visible.js";
import type { Feed, PublishedCall } from "./feed.js";
import type { PageAgent, PageCallText, PageMode, PageQuestion } from "./model.js";

/** Most characters of a call's code and output in the list, and of the first line of its result. */
const MAX_CODE = 2000;

const MAX_SUMMARY = 200;

/** Most characters of what a call has printed. */
const MAX_OUTPUT = 200_000;

/** Most calls whose texts are kept. */
const MAX_CALLS = 300;

/** How a question has ended, for the person. */
const ENDS: Readonly<Record<string, string>> = {
  unanswered: "nobody answered",
  nobody: "nobody can be asked",
  "stop-gone": "the stop has ended",
  gone: "the agent does not ask any more",
};

const ANSWERS = { yes: "allowed", no: "refused", stop: "allowed for this stop" } as const;

const PLACES = { client: "in the agent's client", emacs: "in Emacs", page: "at another page" } as const;

/** A call of an agent, as the image's record has it, with what has happened since. */
interface Kept {
  readonly id: string;
  readonly call: types.AgentCall;
  output: string;
  stop: types.CallStop | undefined;
  end: Pick<types.AgentCall, "status" | "result" | "ended">;
}

/** Shows what the record of an image tells of agents. */
export class RecordView {
  readonly #feed: Feed;
  readonly #mode: PageMode;
  readonly #isServed: (agent: string) => boolean;
  /** A number for each image, because calls of different images have the same numbers. */
  readonly #images = new Map<string, number>();
  #image = 0;
  readonly #calls = new Map<string, Kept>();
  /** Names of the agents, and whether each was paused here. */
  readonly #agents = new Map<string, boolean>();
  readonly #published = new Map<string, string>();
  readonly #questions = new Map<number, PageQuestion>();
  /** The agents that ask them. */
  readonly #askers = new Map<number, string>();
  /** The questions that were answered here. */
  readonly #answeredHere = new Set<number>();

  /** @param isServed - Whether this server serves the agent of this name, so that its calls are known otherwise. */
  constructor(feed: Feed, mode: PageMode, isServed: (agent: string) => boolean) {
    this.#feed = feed;
    this.#mode = mode;
    this.#isServed = isServed;
  }

  /** Begins to show an image, whose record has this. */
  begin(identity: string, ledger: types.AgentsLedger): void {
    const image = this.#images.get(identity) ?? this.#images.size + 1;
    this.#images.set(identity, image);
    this.#image = image;
    this.#take(ledger);
  }

  receive(event: types.AgentEvent): void {
    switch (event.type) {
      case "ledger":
        this.#take(event.ledger);
        break;
      case "agents":
        this.#takeAgents(event.agents);
        break;
      case "begin":
        this.#add(event.call);
        break;
      case "output":
        this.#change(event.number, (kept) => {
          kept.output = (kept.output + event.text).slice(-MAX_OUTPUT);
          this.#feed.output(kept.id, event.text);
        });
        break;
      case "stop":
        this.#changeAndShow(event.number, (kept) => {
          kept.stop = event.stop;
        });
        break;
      case "resume":
        this.#changeAndShow(event.number, (kept) => {
          kept.stop = undefined;
        });
        break;
      case "end":
        this.#changeAndShow(event.number, (kept) => {
          const { status, result, ended } = event;
          kept.end = { status, result, ended };
        });
        break;
      case "ask":
        this.#ask(event.question);
        break;
      case "withdraw":
        this.#withdraw(event.number, this.#endOf(event));
        break;
    }
  }

  /** The connection to the image has ended: what the record tells from now on is not known. */
  lost(): void {
    this.#takeAgents([]);
    for (const kept of this.#calls.values()) this.#lose(kept);
    for (const number of [...this.#questions.keys()]) this.#withdraw(number, "the connection to the image has ended");
  }

  /** The name of an agent that this server does not serve. */
  nameOf(id: string): string | undefined {
    return [...this.#agents.keys()].find((name) => idOf(name) === id && !this.#isServed(name));
  }

  /** The names of all agents that this server does not serve. */
  get names(): readonly string[] {
    return [...this.#agents.keys()].filter((name) => !this.#isServed(name));
  }

  setPaused(name: string, isPaused: boolean): void {
    if (this.#agents.has(name)) this.#agents.set(name, isPaused);
    this.#showAgent(name);
  }

  /** Notes that a question is being answered here. @returns a function that takes that back */
  answering(question: number): () => void {
    this.#answeredHere.add(question);
    return () => this.#answeredHere.delete(question);
  }

  /** Whether an open question is about a stop. */
  isForStop(question: number): boolean {
    return this.#questions.get(question)?.forStop === true;
  }

  /** The whole of a call; `undefined` if it is not kept. */
  text(id: string): PageCallText | undefined {
    const kept = this.#calls.get(id);
    if (kept === undefined) return undefined;
    const { call, output, end } = kept;
    const { operation, package: packageName } = call;
    return {
      code: wordsOf(operation, call.code).code,
      arguments: { operation, ...(packageName === undefined ? {} : { package: packageName }) },
      output,
      answer: end.status === undefined ? [] : [end.result],
    };
  }

  #take({ agents, calls, questions }: types.AgentsLedger): void {
    const known = new Set(calls.map(({ number }) => this.#idOf(number)));
    for (const [id, kept] of this.#calls) if (!known.has(id)) this.#lose(kept);
    // An agent that has left may have been one of this server.
    for (const call of calls) if (this.#mode === "image" || agents.includes(call.agent)) this.#add(call);
    this.#takeAgents(agents);
    const numbers = new Set(questions.map(({ number }) => number));
    for (const number of [...this.#questions.keys()])
      if (!numbers.has(number)) this.#withdraw(number, "it has been answered, or has ended");
    for (const question of questions) this.#ask(question);
  }

  #takeAgents(names: readonly string[]): void {
    for (const name of [...this.#agents.keys()]) if (!names.includes(name)) this.#removeAgent(name);
    for (const name of names) {
      if (!this.#agents.has(name)) this.#agents.set(name, false);
      this.#showAgent(name);
    }
  }

  #removeAgent(name: string): void {
    this.#agents.delete(name);
    if (this.#published.delete(name)) this.#feed.agentGone(idOf(name));
  }

  #add(call: types.AgentCall): void {
    if (this.#isServed(call.agent)) return;
    const { status, result, ended, output, stop } = call;
    const id = this.#idOf(call.number);
    const kept: Kept = {
      id,
      call,
      output,
      stop,
      end: { status, result, ended },
    };
    this.#calls.set(id, kept);
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= MAX_CALLS) break;
      this.#calls.delete(oldest);
    }
    this.#show(kept, output.slice(-MAX_CODE));
  }

  #change(number: number, change: (kept: Kept) => void): void {
    const kept = this.#calls.get(this.#idOf(number));
    if (kept !== undefined) change(kept);
  }

  #changeAndShow(number: number, change: (kept: Kept) => void): void {
    this.#change(number, (kept) => {
      change(kept);
      this.#show(kept);
    });
  }

  /** How a call has ended that still ran is not known. */
  #lose(kept: Kept): void {
    if (kept.end.status !== undefined) return;
    kept.end = { status: "lost", result: "How it has ended is not known.", ended: Date.now() };
    this.#show(kept);
  }

  #show(kept: Kept, output?: string): void {
    this.#feed.call({ ...publishedCall(kept), ...(output === undefined ? {} : { output }) });
    this.#showAgent(kept.call.agent);
  }

  #showAgent(name: string): void {
    const isPaused = this.#agents.get(name);
    if (isPaused === undefined) return;
    if (this.#isServed(name)) {
      if (this.#published.delete(name)) this.#feed.agentGone(idOf(name));
      return;
    }
    const does = this.#stateOf(name);
    const state = isPaused && does !== "asking" ? "paused" : does;
    if (this.#published.get(name) === state) return;
    this.#published.set(name, state);
    this.#feed.agent({ id: idOf(name), name: cutName(name), state });
  }

  #stateOf(name: string): PageAgent["state"] {
    const open = [...this.#calls.values()].filter(({ call, end }) => call.agent === name && end.status === undefined);
    if (open.some(({ call }) => call.operation === "approval")) return "asking";
    if ([...this.#askers.values()].includes(name)) return "asking";
    if (open.some(({ stop }) => stop === undefined)) return "running";
    return open.length > 0 ? "stopped" : "idle";
  }

  #ask(posed: types.PosedQuestion): void {
    const { number, agent, forStop, asked, seconds } = posed;
    if (this.#questions.has(number)) return;
    // Not every question comes from a server that has made all characters visible: Lisp itself asks about its end.
    const question: PageQuestion = {
      number,
      agent: visibleLine(agent),
      action: visibleLine(posed.action),
      particulars: posed.particulars.map(([label, text]) => [visibleLine(label), visibleText(text)] as const),
      circumstances: posed.circumstances.map(visibleLine),
      forStop,
      asked,
      until: asked + Math.round(seconds * 1000),
    };
    this.#questions.set(number, question);
    this.#askers.set(number, agent);
    this.#feed.question(question);
    this.#showAgent(agent);
  }

  #withdraw(number: number, how: string): void {
    const agent = this.#askers.get(number);
    this.#askers.delete(number);
    if (!this.#questions.delete(number)) return;
    this.#feed.questionGone(number, how);
    if (agent !== undefined) this.#showAgent(agent);
  }

  #endOf({ number, reason, answer, place }: Extract<types.AgentEvent, { type: "withdraw" }>): string {
    const isHere = this.#answeredHere.delete(number);
    if (reason !== "answered") return ENDS[reason] ?? reason;
    const how = answer === undefined ? "answered" : ANSWERS[answer];
    return `${how} ${isHere ? "here" : place === undefined ? "elsewhere" : PLACES[place]}`;
  }

  #idOf(number: number): string {
    return `i${this.#image}-${number}`;
  }
}

function idOf(name: string): string {
  return `i:${name}`;
}

function placeOf({ thread, level }: types.CallStop): string {
  return `${thread}/${level}`;
}

/** The words of a person for functions that leave a stop. */
const LEAVING: Readonly<Record<string, string>> = {
  "invoke-offered-restart": "invoke-restart",
  "abort-stop": "abort",
};

/** A call that an agent makes in its debugger, as a person says it: restarts count from 1, and no internal names. */
function wordsOf(operation: string, code: string): { readonly tool: string; readonly code: string } {
  const tool = LEAVING[operation] ?? operation;
  const [, index, given = ""] = /^\(invoke-offered-restart \d+ (\d+) "[^"]*"([\s\S]*)\)$/.exec(code) ?? [];
  if (index !== undefined) {
    const values = Array.from(given.matchAll(/"((?:[^"\\]|\\[\s\S])*)"/g), ([, value = ""]) =>
      value.replace(/\\([\s\S])/g, "$1"),
    );
    return { tool, code: `restart ${Number(index) + 1}${values.length === 0 ? "" : `: ${values.join(", ")}`}` };
  }
  return { tool, code: operation === "abort-stop" ? "abort" : code };
}

function publishedCall({ id, call, stop, end }: Kept): PublishedCall {
  const { agent, operation, code, package: packageName, begun } = call;
  const { status, result, ended } = end;
  const isStopped = stop !== undefined && status === undefined;
  const [summary = ""] = (isStopped ? stop.message : result).trimStart().split("\n", 1);
  const words = wordsOf(operation, code);
  // A request that leaves a stop has no answer, which Lisp reports as aborted.
  const isLeft = status === "aborted" && operation in LEAVING;
  return {
    id,
    agent: idOf(agent),
    agentName: cutName(agent),
    tool: cutName(words.tool),
    code: cut(words.code, MAX_CODE),
    isLisp: true,
    begun,
    ...(packageName === undefined ? {} : { package: cutName(packageName) }),
    ...(isStopped ? { stop: placeOf(stop) } : {}),
    ...(status === undefined
      ? {}
      : {
          outcome: isLeft ? "left the stop" : status,
          isError: status !== "returned" && !isLeft,
          ended: ended ?? Date.now(),
        }),
    ...(summary === "" || isLeft ? {} : { summary: oneLine(summary, MAX_SUMMARY) }),
  };
}
