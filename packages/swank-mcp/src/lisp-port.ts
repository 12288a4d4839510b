import type {
  Evaluation as ClientEvaluation,
  Outcome as ClientOutcome,
  Stopped as ClientStopped,
  DebuggerSession,
  EvaluateOptions,
  SwankClient,
  WaitOptions,
} from "swank-client";

export type {
  Binding,
  Definition,
  DefinitionKind,
  DefinitionSource,
  Definitions,
  ErrorSnapshot,
  FoundSymbol,
  FrameSummary,
  LeftReason,
  LispWarning,
  Meaning,
  ResetReport,
  Restart,
  StopReason,
  SymbolDescription,
  Transcript,
} from "swank-client";

/** What the tools use of a debugger session. */
export type Stop = Pick<DebuggerSession, "thread" | "level" | "isLive" | "condition">;

export type Stopped = Omit<ClientStopped, "session"> & { readonly session: Stop };

export type Outcome = Exclude<ClientOutcome, ClientStopped> | Stopped;

/** What the tools use of an evaluation. */
export interface Evaluation extends Pick<ClientEvaluation, "thread" | "interrupt"> {
  next(options?: WaitOptions): Promise<Outcome>;
  abort(): Promise<Outcome>;
}

/** What the tools use of a client. */
export interface LispClient
  extends Pick<SwankClient, "info" | "closed" | "close" | "describeSymbol" | "definitions" | "reset"> {
  evaluate(code: string, options?: EvaluateOptions): Evaluation;
}
