import type {
  Evaluation as ClientEvaluation,
  Outcome as ClientOutcome,
  Stop as ClientStop,
  SwankClient,
  types,
} from "swank-client";

/** The members of a stop that lists and reports use. */
export type Stop = Pick<ClientStop, "data" | "thread" | "level" | "isLive" | "condition">;

export type Stopped = Omit<types.Stopped, "stop"> & { readonly stop: Stop };

export type Outcome = Exclude<ClientOutcome, types.Stopped> | Stopped;

/** An evaluation whose outcomes have stops as above. */
export interface Evaluation extends Omit<ClientEvaluation, "next" | "abort" | "result"> {
  next(options?: types.WaitOptions): Promise<Outcome>;
  abort(): Promise<Outcome>;
}

/** The members of a stop that can change the image, so that tools reach them only after an approval. */
export type StopAction =
  | "evaluateInFrame"
  | "invokeRestart"
  | "restartFrame"
  | "returnFromFrame"
  | "continue"
  | "step"
  | "abort";

/** A stop, as the debugger tools use it: without `run`, with which a tool could change the image before an approval. */
export interface DebuggedStop extends Omit<ClientStop, "evaluation" | "run"> {
  /** `undefined` for a thread that runs no evaluation of this session. */
  readonly evaluation: Evaluation | undefined;
}

interface LispEvents extends Omit<types.ClientEvents, "stop"> {
  stop: DebuggedStop;
}

/** A client whose stops and evaluations are as above. */
export interface LispClient
  extends Omit<SwankClient, "breakpoints" | "stops" | "evaluations" | "foreignStops" | "evaluate" | "on"> {
  readonly breakpoints: Pick<types.Breakpoints, "check" | "set" | "list" | "remove">;
  readonly stops: readonly DebuggedStop[];
  readonly evaluations: readonly Evaluation[];
  foreignStops(): Promise<readonly DebuggedStop[]>;
  evaluate(code: string, options?: types.EvaluateOptions): Evaluation;
  on<Name extends keyof LispEvents>(event: Name, listener: (payload: LispEvents[Name]) => void): () => void;
}
