export type { ABILITIES, Abilities, Ability, RuntimeKind } from "./base/abilities.js";
export type { ImageExit, SwankErrorCode, SwankErrorDetails, SwankErrorOptions } from "./base/errors.js";
export type { UnhandledListenerError, Unsubscribe } from "./base/events.js";
export type { QuestionOptions } from "./base/options.js";
export type { WaitOptions } from "./base/waiting.js";
export type { ClientEvents, ClientOptions, SwankClient } from "./client.js";
export type {
  AssignedVariable,
  Change,
  ChangedForm,
  ChangeState,
  Changes,
  ChangesOptions,
  FileState,
  FormOutcome,
  FoundChanges,
  LoadChangesOptions,
  LoadedChanges,
  Save,
  SaveOptions,
  SaveOutcome,
  Saves,
  UnloadedName,
} from "./code/changes.js";
export type { Code } from "./code/code.js";
export type {
  CodeFailure,
  CodeNote,
  Compiled,
  CompileOptions,
  CompileSource,
  codeFailure,
  codeNote,
  EXPANSION_MODES,
  ExpandOptions,
  Expansion,
  ExpansionMode,
  Expansions,
  PlainOperator,
  RepairedLine,
  SEVERITIES,
} from "./code/compile.js";
export type {
  Definition,
  Definitions,
  DefinitionsOptions,
  LeftReason,
  Loaded,
  ResetReport,
} from "./code/definitions.js";
export type {
  BadPattern,
  DefinitionKind,
  DefinitionText,
  definitionText,
  FileNotFound,
  MethodsCalled,
  NAMED_KINDS,
  NamedKind,
  NameNotFound,
  PackageNotFound,
  SHOWN_KINDS,
  SOURCE_KINDS,
  SymbolNotFound,
  TEXT_STATES,
  TextState,
} from "./code/found.js";
export type {
  CoveredFile,
  InstallingProgram,
  LineRange,
  LoadAction,
  LoadedSystem,
  Loading,
  LoadOptions,
  LoadProblem,
  LoadResult,
  LoadSource,
  TestCoverage,
  TestFailure,
  TestOptions,
  TestResults,
} from "./code/load.js";
export type {
  ACCESS,
  AproposOptions,
  ClassMeaning,
  DefinitionSource,
  DescribeOptions,
  FoundName,
  FoundNames,
  FoundSymbol,
  Meaning,
  NamesFound,
  OperatorMeaning,
  PrintedValue,
  SymbolDescription,
  SymbolMacroMeaning,
  TypeMeaning,
  VariableMeaning,
} from "./code/names.js";
export type {
  ADDITIONS,
  Addition,
  FileOutline,
  OutlinedFile,
  OutlinedForm,
  OutlinedName,
  OutlinedSystem,
  OutlineOptions,
  PackageOutline,
  PackageOutlineOptions,
  SystemFile,
  SystemOutline,
  SystemOutlineOptions,
} from "./code/outline.js";
export type {
  ClassDescription,
  ClassInfo,
  ClassNames,
  FoundClass,
  FoundReferences,
  FunctionDescription,
  foundClass,
  foundReferences,
  LocatedDefinition,
  LocatedMethod,
  MethodList,
  NO_REFERENCES,
  NoReferences,
  REFERENCE_KINDS,
  Reference,
  ReferenceKind,
  ReferenceOptions,
  References,
  referenceFields,
  SlotDescription,
} from "./code/references.js";
export type {
  FileMatches,
  FileOptions,
  FoundDefinitions,
  FoundInSources,
  FoundLine,
  FoundLines,
  MethodFamily,
  SearchOptions,
  ShownFile,
  ShownSource,
  SourceMatches,
  SourceOptions,
} from "./code/source.js";
export type { UndoneDefinition, UndoOptions, UndoRefusal } from "./code/undo.js";
export type { ConnectOptions } from "./connect.js";
export type {
  Breakpoint,
  BreakpointOptions,
  Breakpoints,
  HitElsewhere,
  NewBreakpoint,
} from "./evaluation/breakpoints.js";
export type { DataValue, LispData, LispPair } from "./evaluation/data.js";
export type { DataEvalOptions, DecodedEvalOptions, EvalOptions, TextEvalOptions } from "./evaluation/eval.js";
export type {
  Aborted,
  Cut,
  CutValue,
  EvaluateOptions,
  FrameEvaluationOptions,
  IdleBreakpoint,
  Lost,
  Returned,
  Transcript,
} from "./evaluation/evaluate.js";
export type { Followable, Followed, FollowOptions } from "./evaluation/follow.js";
export type {
  Binding,
  binding,
  EffectiveMethod,
  ErrorSnapshot,
  effectiveMethods,
  FRAME_KINDS,
  FrameSummary,
  frameKind,
  frameSummary,
  LispWarning,
  LocalBinding,
  localBinding,
  OmittedOutput,
  OutputChunk,
  OutputStream,
  Place,
  RedefinedIn,
  Redefinitions,
  Restart,
  RestartArguments,
  restartList,
  SignalledCondition,
  SignalledConditions,
  StaleUse,
  StopData,
  StopDetail,
  StopOwner,
  StopReason,
  ThreadsInside,
  VARIABLE_MARKS,
  VariableMark,
  variableMarks,
  WarningCount,
} from "./evaluation/report.js";
export type { SessionForm } from "./evaluation/session-form.js";
export type { Evaluation, Outcome, Stop, Stopped, Task, TaskEvent } from "./evaluation/stop.js";
export type {
  Frame,
  FrameLocals,
  FramePage,
  FrameValue,
  Source,
  StepMode,
  Unwinding,
  Variable,
} from "./evaluation/stop-calls.js";
export type { EndedThread } from "./evaluation/stops.js";
export type { ThreadOutput } from "./evaluation/thread-output.js";
export type { ProgressTask, TaskOptions } from "./evaluation/work.js";
export type { AttachOptions, ConnectionInfo, ForeignErrors } from "./handshake/handshake.js";
export type { ConnectLaunchedOptions, LaunchedClient, LaunchOptions } from "./launch.js";
export type {
  AgentActivity,
  AgentPause,
  RefusedCall,
  RunningCall,
  UserAnswer,
  UserQuestion,
  UserReply,
  UserRequest,
} from "./program/agents.js";
export type {
  AgentCall,
  AgentEvent,
  AgentsLedger,
  AnswerPlace,
  CallStop,
  FollowAgentsOptions,
  FollowedAgents,
  PosedQuestion,
} from "./program/follow-agents.js";
export type {
  CodeGrowth,
  CodeGrowthOptions,
  HEAP_COLLECTIONS,
  Heap,
  HeapGrowth,
  HeapGrowthOptions,
  HeapInstance,
  HeapInstances,
  HeapInstancesOptions,
  HeapLook,
  HeapOptions,
  HeapPath,
  HeapSummary,
  HeapSummaryOptions,
  HeapType,
  HeapTypeGrowth,
  heapGrowthData,
  heapInstancesData,
  heapPathData,
  heapSummaryData,
  PATH_ENDS,
  PathStep,
} from "./program/heap.js";
export type { InspectObjectOptions, ObjectFact, ObjectPart, ObjectView } from "./program/objects.js";
export type {
  CallTree,
  Cost,
  CountedCalls,
  PROFILE_MODES,
  Profile,
  ProfiledFunction,
  ProfileOptions,
  ProfileSource,
  profileData,
  RUN_ENDS,
  StackNode,
} from "./program/profile.js";
export type { Program } from "./program/program.js";
export type { ImageState } from "./program/state.js";
export type { AgentFate, KickedAgents, QuestionAnswer } from "./program/steer-agents.js";
export type {
  NamedThread,
  ProgramThread,
  ProgramThreads,
  programThreads,
  THREAD_OWNERS,
  THREAD_STATES,
  ThreadsOptions,
  UNREAD_REASONS,
} from "./program/threads.js";
export type { Spread, TimedCode, TimedSource, Timing, TimingOptions } from "./program/timing.js";
export type {
  CALL_EXITS,
  CalledMethod,
  CompleteTrace,
  METHOD_ROLES,
  RecordedCall,
  RecordedCondition,
  RecordedThread,
  Trace,
  TraceOptions,
  TraceSource,
  traceData,
} from "./program/trace.js";
export type { Backoff, ReconnectEvents, ReconnectOptions } from "./reconnect.js";
export type { FormOptions } from "./runtime/caller.js";
export type { LispFunction, ModuleName } from "./runtime/function.js";
export type { LispRunner, RunOptions } from "./runtime/runner.js";
export type { Fault } from "./runtime/runtime.js";
export type { CodeOutline, Unbalanced } from "./source-text/balance.js";
export type { LocationPlace, LocationPosition, SourceLocation, SourceText } from "./source-text/source-text.js";
export type {
  Compilation,
  CompiledFile,
  CompileFileOptions,
  CompilerNote,
  FileCompilation,
  Policy,
  Severity,
} from "./swank/code.js";
export type { InspectOptions, Inspector, InspectorPage, InspectorPart } from "./swank/inspector.js";
export type { ThreadInfo } from "./swank/program.js";
export type {
  AnySource,
  FoundSource,
  LocatedSource,
  Sources,
  SourcesOptions,
  UnreadableSource,
} from "./swank/sources.js";
