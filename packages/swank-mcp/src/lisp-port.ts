import type {
  Breakpoints,
  Evaluation as ClientEvaluation,
  Outcome as ClientOutcome,
  Stopped as ClientStopped,
  DebuggerSession,
  EvaluateOptions,
  ForeignStop,
  SwankClient,
  WaitOptions,
} from "swank-client";

export type {
  Binding,
  Breakpoint,
  Definition,
  DefinitionKind,
  DefinitionSource,
  Definitions,
  EndedThread,
  ErrorSnapshot,
  ForeignStop,
  FoundSymbol,
  Frame,
  FrameLocals,
  FramePage,
  FrameSummary,
  HitElsewhere,
  LeftReason,
  LispWarning,
  Meaning,
  NewBreakpoint,
  OutputStream,
  ResetReport,
  Restart,
  Source,
  StepMode,
  StopDetail,
  StopOwner,
  StopReason,
  SymbolDescription,
  Transcript,
  Variable,
} from "swank-client";

/** What the tools use of a debugger session. */
export type Stop = Pick<DebuggerSession, "thread" | "level" | "isLive" | "condition">;

export type Stopped = Omit<ClientStopped, "session"> & { readonly session: Stop };

export type Outcome = Exclude<ClientOutcome, ClientStopped> | Stopped;

/** What the tools use of an evaluation. */
export interface Evaluation extends Pick<ClientEvaluation, "thread" | "interrupt" | "takeTranscript"> {
  next(options?: WaitOptions): Promise<Outcome>;
  abort(): Promise<Outcome>;
}

/** A stop that can be looked at, changed and left. */
export interface DebuggedStop
  extends Stop,
    Pick<
      DebuggerSession,
      | "reason"
      | "detail"
      | "ended"
      | "owner"
      | "isOwn"
      | "restarts"
      | "continuation"
      | "locals"
      | "frames"
      | "frameLocals"
      | "evaluateInFrame"
      | "invokeRestart"
      | "restartFrame"
      | "returnFromFrame"
      | "continue"
      | "step"
      | "abort"
    > {
  /** `undefined` for a thread that evaluates nothing of this session. */
  readonly evaluation: Evaluation | undefined;
}

/** What the tools use of a client. */
export interface LispClient
  extends Pick<
    SwankClient,
    | "info"
    | "isOpen"
    | "otherClients"
    | "closed"
    | "close"
    | "hasThread"
    | "onThreadEnded"
    | "describeSymbol"
    | "completions"
    | "definitions"
    | "reset"
  > {
  readonly breakpoints: Pick<Breakpoints, "set" | "list" | "remove" | "onHitElsewhere">;
  /** Live stops, the latest last. */
  readonly stops: readonly DebuggedStop[];
  /** What is stopped in the debuggers of other clients. */
  foreignStops(): Promise<readonly ForeignStop[]>;
  evaluate(code: string, options?: EvaluateOptions): Evaluation;
  onStop(listener: (stop: DebuggedStop) => void): () => void;
}
