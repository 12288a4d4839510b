import type {
  Breakpoints,
  Evaluation as ClientEvaluation,
  ClientEvents,
  Outcome as ClientOutcome,
  Stop as ClientStop,
  Stopped as ClientStopped,
  EvaluateOptions,
  SwankClient,
  WaitOptions,
} from "swank-client/types";

export type {
  Breakpoint,
  Change,
  ChangedForm,
  ChangeState,
  Changes,
  ClassDescription,
  ClassInfo,
  ClassNames,
  CodeFailure,
  CodeNote,
  Compiled,
  Cost,
  CountedCalls,
  Cut,
  CutValue,
  Definition,
  DefinitionKind,
  DefinitionSource,
  Definitions,
  DefinitionText,
  EffectiveMethod,
  EndedThread,
  ErrorSnapshot,
  Expansion,
  Expansions,
  FileMatches,
  FileNotFound,
  FileState,
  FormOutcome,
  FoundChanges,
  FoundClass,
  FoundDefinitions,
  FoundInSources,
  FoundLine,
  FoundLines,
  FoundName,
  FoundNames,
  FoundReferences,
  FoundSymbol,
  Frame,
  FrameLocals,
  FramePage,
  FrameSummary,
  FrameValue,
  FunctionDescription,
  HeapGrowth,
  HeapInstance,
  HeapInstances,
  HeapLook,
  HeapPath,
  HeapSummary,
  HeapType,
  HeapTypeGrowth,
  HitElsewhere,
  IdleBreakpoint,
  InspectObjectOptions,
  InstallingProgram,
  LeftReason,
  LispWarning,
  Loaded,
  LoadedChanges,
  LoadedSystem,
  Loading,
  LoadProblem,
  LoadResult,
  LocalBinding,
  LocatedDefinition,
  LocatedMethod,
  Meaning,
  MethodList,
  MethodsCalled,
  NameNotFound,
  NoReferences,
  ObjectPart,
  ObjectView,
  OmittedOutput,
  OutputStream,
  PackageNotFound,
  PlainOperator,
  PrintedValue,
  Profile,
  ProfiledFunction,
  ProgramThread,
  ProgramThreads,
  RecordedCall,
  RecordedCondition,
  RecordedThread,
  Redefinitions,
  Reference,
  ReferenceKind,
  References,
  ResetReport,
  Restart,
  RunningCall,
  Save,
  SaveOutcome,
  Saves,
  ShownFile,
  ShownSource,
  SignalledCondition,
  SignalledConditions,
  SlotDescription,
  Source,
  SourceMatches,
  StepMode,
  StopData,
  StopOwner,
  StopReason,
  SymbolDescription,
  TestFailure,
  TestResults,
  TextState,
  Trace,
  TraceCode,
  Transcript,
  UserAnswer,
  UserRequest,
  Variable,
  WarningCount,
} from "swank-client/types";

/** The members of a stop that lists and reports use. */
export type Stop = Pick<ClientStop, "data" | "thread" | "level" | "isLive" | "condition">;

export type Stopped = Omit<ClientStopped, "stop"> & { readonly stop: Stop };

export type Outcome = Exclude<ClientOutcome, ClientStopped> | Stopped;

/** The members of an evaluation that the tools use. */
export interface Evaluation
  extends Pick<ClientEvaluation, "id" | "thread" | "interrupt" | "takeTranscript" | "userWait"> {
  next(options?: WaitOptions): Promise<Outcome>;
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
export interface LispEvents extends Omit<ClientEvents, "stop"> {
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
    | "describeSymbol"
    | "code"
    | "program"
    | "activity"
    | "completions"
    | "definitions"
    | "reset"
  > {
  readonly breakpoints: Pick<Breakpoints, "check" | "set" | "list" | "remove">;
  /** Live stops, the latest last. */
  readonly stops: readonly DebuggedStop[];
  /** Those that have not ended. */
  readonly evaluations: readonly Evaluation[];
  /** The stops in other clients' debuggers. */
  foreignStops(): Promise<readonly DebuggedStop[]>;
  evaluate(code: string, options?: EvaluateOptions): Evaluation;
  on<Name extends keyof LispEvents>(event: Name, listener: (payload: LispEvents[Name]) => void): () => void;
}
