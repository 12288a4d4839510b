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

/** The members of an evaluation that the tools use. */
export interface Evaluation
  extends Pick<
    ClientEvaluation,
    "id" | "thread" | "interrupt" | "takeTranscript" | "userWait" | "awaitedLock" | "isSent" | "isSettled" | "begun"
  > {
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

/** The members of a stop that the debugger tools use. */
export interface DebuggedStop
  extends Stop,
    Pick<
      ClientStop,
      "reason" | "ended" | "owner" | "open" | "restarts" | "continuation" | "frames" | "frameLocals" | StopAction
    > {
  /** `undefined` for a thread that runs no evaluation of this session. */
  readonly evaluation: Evaluation | undefined;
}

/** The events of a client. */
interface LispEvents extends Omit<types.ClientEvents, "stop"> {
  stop: DebuggedStop;
}

/** The members of a client that the tools use. */
export interface LispClient
  extends Pick<
    SwankClient,
    | "info"
    | "isOpen"
    | "otherClients"
    | "askUser"
    | "canAskUser"
    | "closed"
    | "close"
    | "hasThread"
    | "faults"
    | "describeSymbol"
    | "code"
    | "lisp"
    | "program"
    | "activity"
    | "completions"
    | "definitions"
    | "reset"
  > {
  readonly breakpoints: Pick<types.Breakpoints, "check" | "set" | "list" | "remove">;
  /** Live stops, the latest last. */
  readonly stops: readonly DebuggedStop[];
  /** Those that have not ended. */
  readonly evaluations: readonly Evaluation[];
  /** The stops in other clients' debuggers. */
  foreignStops(): Promise<readonly DebuggedStop[]>;
  evaluate(code: string, options?: types.EvaluateOptions): Evaluation;
  on<Name extends keyof LispEvents>(event: Name, listener: (payload: LispEvents[Name]) => void): () => void;
}
