/**
 * Types of the client's arguments and results.
 *
 * @module swank-client/types
 */

export type { ImageExit, SwankErrorDetails } from "./base/error-details.js";
export type { SwankErrorCode, SwankErrorOptions } from "./base/errors.js";
export type { QuestionOptions } from "./base/question-options.js";
export type { UnhandledListenerError, Unsubscribe } from "./base/typed-emitter.js";
export type { RefusedCall } from "./calls/agent-notes.js";
export type { UserAnswer, UserQuestion } from "./calls/ask-user.js";
export type { ForeignErrors } from "./calls/attach.js";
export type { Breakpoint, HitElsewhere, IdleBreakpoint, NewBreakpoint } from "./calls/breakpoint.js";
export type {
  AssignedVariable,
  Change,
  ChangeState,
  Changes,
  FileState,
  FoundChanges,
  Save,
  SaveOutcome,
  Saves,
} from "./calls/change.js";
export type * from "./calls/class-description.js";
export type * from "./calls/compiled-code.js";
export type * from "./calls/condition.js";
export type { ConnectionInfo } from "./calls/connection-info.js";
export type { Definition, DefinitionKind, Definitions, LeftReason, Loaded, ResetReport } from "./calls/definition.js";
export type * from "./calls/definition-text.js";
export type { Cut, CutValue } from "./calls/evaluate.js";
export type * from "./calls/expansion.js";
export type { FileNotFound } from "./calls/file-not-found.js";
export type * from "./calls/found-lines.js";
export type * from "./calls/found-names.js";
export type * from "./calls/found-references.js";
export type { Frame, FrameLocals, FramePage, FrameValue, Source, Variable } from "./calls/frames.js";
export type * from "./calls/heap-data.js";
export type {
  AproposEntry,
  AproposListOptions,
  ChannelRepl,
  CodeOrigin,
  CodeToCompile,
  Compilation,
  CompilerNote,
  Completions,
  CurrentPackage,
  DebuggerInfo,
  DefinitionPlace,
  FileCompilation,
  FrameContents,
  FuzzyCompletion,
  FuzzyCompletions,
  FuzzyOptions,
  GrabbedOutput,
  Inspection,
  InspectorPart,
  InspectorRange,
  LocationPlace,
  LocationPosition,
  MacroStep,
  PackageProfile,
  Policy,
  RawForm,
  SampledFunction,
  Severity,
  SourceLocation,
  ThreadInfo,
  TracedCall,
  TracedValue,
  TraceReport,
  WireLocal,
  XrefGroup,
  XrefKind,
} from "./calls/index.js";
export type {
  InstallingProgram,
  LoadAction,
  LoadedSystem,
  Loading,
  LoadProblem,
  LoadResult,
} from "./calls/load-result.js";
export type { ChangedForm, FormOutcome, LoadedChanges } from "./calls/loaded-changes.js";
export type { ObjectFact, ObjectPart, ObjectView } from "./calls/object-view.js";
export type { OmittedOutput, OutputChunk, OutputStream } from "./calls/omitted-output.js";
export type * from "./calls/profile-data.js";
export type * from "./calls/program-thread.js";
export type { RedefinedIn, Redefinitions, StaleUse } from "./calls/redefinition.js";
export type { RunningCall } from "./calls/running-calls.js";
export type { SignalledCondition, SignalledConditions } from "./calls/signalled-condition.js";
export type { StepMode } from "./calls/step-on.js";
export type { StopData, StopDetail, StopReason } from "./calls/stop-data.js";
export type { StopOwner } from "./calls/stop-owner.js";
export type * from "./calls/symbol-description.js";
export type { TestFailure, TestResults } from "./calls/test-results.js";
export type * from "./calls/trace-data.js";
export type { Unwinding } from "./calls/unwinding.js";
export type { UserRequest } from "./calls/user-asks.js";
export type { LispWarning, WarningCount } from "./calls/warning.js";
export type { SwankClient } from "./client.js";
export type { ClientEvents } from "./client-events.js";
export type { ClientOptions, DefinitionsOptions, DescribeOptions } from "./client-options.js";
export type { ChangesCode } from "./code/changes-code.js";
export type { Code } from "./code/code.js";
export type {
  AproposOptions,
  ChangesOptions,
  CompileOptions,
  ExpandOptions,
  FileOptions,
  LoadOptions,
  NameOptions,
  ReferenceOptions,
  SaveOptions,
  SearchOptions,
  TestOptions,
} from "./code/code-options.js";
export type { CompileSource } from "./code/compile.js";
export type { CompiledFile, CompileFileOptions } from "./code/compile-file.js";
export type { LoadCode, LoadSource } from "./code/load-code.js";
export type { TestCode } from "./code/test-code.js";
export type { ConnectOptions } from "./connect.js";
export type { BreakpointOptions, Breakpoints } from "./debugger/breakpoints.js";
export type { EndedThread } from "./debugger/own-threads.js";
export type { Evaluation, Outcome, Stop, Stopped } from "./debugger/stop.js";
export type { CodeOutline } from "./evaluation/code-outline.js";
export type { DecodedEvalOptions, EvalOptions } from "./evaluation/evaluate-to-end.js";
export type { EvaluateOptions, FrameEvaluationOptions } from "./evaluation/evaluation.js";
export type { Aborted, Lost, Returned, Transcript } from "./evaluation/outcome.js";
export type { WaitOptions } from "./evaluation/outcome-slot.js";
export type { Backoff } from "./growing-delay.js";
export type { AttachOptions } from "./handshake/attach.js";
export type { InspectOptions, Inspector, InspectorPage } from "./inspect/inspector.js";
export type { LaunchedClient, LaunchOptions } from "./launch.js";
export type { CallOptions } from "./lisp/caller.js";
export type { LispFunction, ModuleName } from "./lisp/descriptor.js";
export type { LispRunner, RunOptions } from "./lisp/lisp-runner.js";
export type { AgentActivity } from "./program/agent-activity.js";
export type { Heap, HeapGrowthCode } from "./program/heap.js";
export type { HeapGrowthOptions, HeapOptions, HeapSummaryOptions } from "./program/heap-options.js";
export type { Program } from "./program/program.js";
export type {
  InspectObjectOptions,
  ProfileOptions,
  ProfileSource,
  ThreadsOptions,
  TraceOptions,
  TraceSource,
} from "./program/program-options.js";
export type { RunCode } from "./program/run-code.js";
export type { TraceCode } from "./program/trace-code.js";
export type { ReconnectEvents, ReconnectOptions } from "./reconnecting-client.js";
export type { AnySource } from "./sources/place.js";
export type { SourceText } from "./sources/source-text.js";
export type { FoundSource, LocatedSource, Sources, SourcesOptions, UnreadableSource } from "./sources/sources.js";
export type { Unbalanced } from "./sources/unbalanced.js";
