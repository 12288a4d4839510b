import type { types } from "swank-client";

/*
 * What the page's server and the page in the browser tell each other. Both import only types from here, so that nothing of the server reaches the
 * browser. All texts come from Lisp or from agents: the page shows them as text, never as markup.
 */

/** How the page knows the agents: those of this server, or those that an image's record names. */
export type PageMode = "server" | "image";

/** The image that agents use, as the head of the page shows it. */
export interface PageImage {
  /** `none`: no agent has needed one yet. `lost`: `why` says how. */
  readonly state: "none" | "connecting" | "open" | "lost";
  readonly why?: string;
  /** E.g. `SBCL 2.5.8`. */
  readonly implementation?: string;
  readonly pid?: number;
  /** `HOST:PORT` of its Swank. */
  readonly address?: string;
  readonly package?: string;
  /** Bytes of the heap. */
  readonly memory?: { readonly used: number; readonly size: number };
  /** Numbers of threads and of connected clients. */
  readonly threads?: number;
  readonly clients?: number;
}

export interface PageAgent {
  /** Unique for the life of the server. */
  readonly id: string;
  readonly name: string;
  readonly state: "idle" | "running" | "stopped" | "asking" | "paused" | "out";
  /** True for the person at the page, whose evaluations are listed like an agent's. */
  readonly isYou?: boolean;
}

/** A call of an agent without its long texts, which the look `call` has. */
export interface PageCall {
  readonly id: string;
  /** `PageAgent.id`. The agent may have left. */
  readonly agent: string;
  readonly agentName?: string;
  /** The tool, or for calls from an image's record the operation. */
  readonly tool: string;
  /** The code, or else the arguments as JSON; the first 2,000 characters. */
  readonly code: string;
  /** Whether `code` is Lisp. */
  readonly isLisp: boolean;
  readonly package?: string;
  /** Milliseconds since the epoch. */
  readonly begun: number;
  readonly ended?: number;
  /** `ok`, the status of the evaluation (`returned`, `stopped`, `aborted`, ...), or the code of the refusal; absent while it runs. */
  readonly outcome?: string;
  readonly isError?: boolean;
  /** The last 2,000 characters of what it has printed. */
  readonly output: string;
  /** The first line of the answer, at most 200 characters. */
  readonly summary?: string;
  /** The thread and level of the stop that it has led to, `7/1`, while the thread stands there. */
  readonly stop?: string;
  /** True while it waits because its agent is paused. */
  readonly waits?: boolean;
}

/** The whole of a call, for the look `call`. Each text is cut at 200,000 characters, and says so. */
export interface PageCallText {
  readonly code: string;
  readonly arguments: unknown;
  readonly output: string;
  /** The blocks of the answer. */
  readonly answer: readonly string[];
  /** Data of a profile or trace, if the call made one. */
  readonly profile?: types.Profile;
  readonly trace?: types.Trace;
}

/** A stopped thread, as the list shows it. */
export interface PageStop {
  readonly thread: number;
  readonly level: number;
  readonly threadName?: string;
  /** `unknown` in the app that shows a stop, if its host only shows the frames. */
  readonly reason: types.StopReason | "unknown";
  readonly type: string;
  readonly message: string;
  /** Whose debugger has it, e.g. the agent's name or `Emacs`. */
  readonly owner?: string;
  readonly restarts: readonly types.Restart[];
  readonly since: number;
}

/** A question that waits for the person's answer. */
export interface PageQuestion {
  readonly number: number;
  readonly agent: string;
  /** A verb phrase, `evaluate code in frame #2`. */
  readonly action: string;
  /** `Code` and the code, and so on: the whole texts. */
  readonly particulars: readonly (readonly [label: string, text: string])[];
  readonly circumstances: readonly string[];
  /** Whether it can be allowed for the whole stop. */
  readonly forStop: boolean;
  /** Milliseconds since the epoch at which it was asked, and at which it ends. */
  readonly asked: number;
  readonly until: number;
}

/** Everything that a page needs to begin with. */
export interface PageState {
  readonly server: {
    readonly version: string;
    readonly mode: PageMode;
    readonly isReadOnly: boolean;
    /** Changes when the server starts again. */
    readonly epoch: string;
  };
  readonly image: PageImage;
  readonly agents: readonly PageAgent[];
  /** The latest, at most 1,000, oldest first. */
  readonly calls: readonly PageCall[];
  /** Number of earlier calls. */
  readonly forgotten: number;
  readonly stops: readonly PageStop[];
  readonly questions: readonly PageQuestion[];
}

/**
 * Events, each with an id `EPOCH-NUMBER` on the wire. A page that reconnects with `Last-Event-ID` gets those that it missed, or `state` if they are
 * no longer kept. `PageAgent`, `PageCall`, `PageStop` replace what the page knows under the same id.
 */
export type PageEvent =
  | { readonly type: "state"; readonly state: PageState }
  | { readonly type: "image"; readonly image: PageImage }
  | { readonly type: "agent"; readonly agent: PageAgent }
  | { readonly type: "agent-gone"; readonly id: string }
  | { readonly type: "call"; readonly call: PageCall }
  /** The latest output of a call, at most 2,000 characters: what came before is left out. */
  | { readonly type: "output"; readonly call: string; readonly text: string }
  /** All stops: there are few. */
  | { readonly type: "stops"; readonly stops: readonly PageStop[] }
  | { readonly type: "question"; readonly question: PageQuestion }
  /** `how`: `allowed here`, `refused in Emacs`, `nobody answered`, ... */
  | { readonly type: "question-gone"; readonly number: number; readonly how: string };

/** A place in source, with the lines around it. */
export interface PageSource {
  /** Empty for code that no file has. */
  readonly file: string;
  /**
   * Whether the lines are those of the evaluated definition that the function has now. Whether the frame runs an older one is not known. Without it,
   * and without a file, they are what the frame runs, as Lisp prints it.
   */
  readonly isEvaluated?: boolean;
  /** The number of the first line of `lines`, and that of the marked one: 0 if it is not known which is reached. */
  readonly first: number;
  readonly line: number;
  readonly lines: readonly string[];
}

export interface PageFrame {
  readonly index: number;
  readonly call: string;
  readonly kind: "user" | "system" | "toplevel";
  readonly isRestartable: boolean;
}

export interface PageVariable {
  readonly name: string;
  readonly value: string;
  readonly marks: readonly types.VariableMark[];
  /** For the look `object`. */
  readonly objectId?: number;
}

/** Questions to the server: what a look needs, and what it gives. None changes anything but `trace`, which a page that only reads is refused. */
export interface Looks {
  call: { args: { readonly id: string }; result: PageCallText };
  stop: {
    args: { readonly thread: number; readonly level: number };
    result: {
      readonly stop: PageStop;
      readonly slots: readonly types.Binding[];
      readonly frames: readonly PageFrame[];
      readonly totalFrames: number;
    };
  };
  frames: {
    args: { readonly thread: number; readonly level: number; readonly start: number };
    result: { readonly frames: readonly PageFrame[]; readonly totalFrames: number };
  };
  frame: {
    args: { readonly thread: number; readonly level: number; readonly frame: number };
    result: { readonly variables: readonly PageVariable[]; readonly source?: PageSource };
  };
  object: { args: { readonly id: number; readonly start: number }; result: types.ObjectView };
  threads: { args: { readonly frames?: boolean }; result: types.ProgramThreads };
  changes: { args: Record<never, never>; result: types.Changes };
  heap: { args: Record<never, never>; result: types.HeapSummary };
  /** Watches for so many seconds; the answer comes then. Ends when the browser drops the request. */
  profile: { args: { readonly seconds: number; readonly mode: "cpu" | "alloc" }; result: types.Profile };
  trace: { args: { readonly functions: readonly string[]; readonly seconds: number }; result: types.Trace };
}

/** What a person does. Refused with `READ_ONLY` if the page only reads. The result is a sentence that says what was done. */
export type Act =
  | { readonly act: "answer"; readonly question: number; readonly answer: "yes" | "no" | "stop" }
  | {
      readonly act: "restart";
      readonly thread: number;
      readonly level: number;
      readonly index: number;
      readonly values: readonly string[];
    }
  | {
      readonly act: "eval-in-frame";
      readonly thread: number;
      readonly level: number;
      readonly frame: number;
      readonly code: string;
    }
  /** The call appears in the timeline as the person's. */
  | { readonly act: "evaluate"; readonly code: string; readonly package?: string }
  | { readonly act: "interrupt"; readonly thread: number }
  | { readonly act: "pause" | "resume" | "throw-out" | "let-back"; readonly agent: string }
  | { readonly act: "tell"; readonly agent?: string; readonly text: string; readonly place?: string }
  /** Names as the look `changes` gives them. */
  | { readonly act: "undo" | "save"; readonly kind: string; readonly name: string; readonly file?: string };

/** What `POST /look` and `POST /act` answer. */
export type PageReply<Result> =
  | { readonly ok: true; readonly value: Result }
  | {
      readonly ok: false;
      readonly error: { readonly code: string; readonly message: string; readonly remedy?: string };
    };
