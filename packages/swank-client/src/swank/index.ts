export type { Unwinding } from "../evaluation/stop-calls.js";
export type { ConnectionInfo } from "../handshake/handshake.js";
export {
  type LocationPlace,
  type LocationPosition,
  location,
  type SourceLocation,
} from "../source-text/source-text.js";
export {
  type AproposEntry,
  type AproposListOptions,
  type CodeOrigin,
  type CodeToCompile,
  type Compilation,
  type CompiledFile,
  type CompileFileOptions,
  type CompilerNote,
  compileFile,
  compiling,
  type DefinitionPlace,
  definitions,
  expanding,
  type FileCompilation,
  type MacroStep,
  type Policy,
  type Severity,
  type XrefGroup,
  type XrefKind,
} from "./code.js";
export {
  type Completions,
  completion,
  type FuzzyChunk,
  type FuzzyCompletion,
  type FuzzyCompletions,
  type FuzzyOptions,
  type RawForm,
} from "./completion.js";
export { type DebuggerInfo, debugging, type FrameContents, type WireLocal } from "./debugging.js";
export { type ChannelRepl, type CurrentPackage, evaluation, type GrabbedOutput, repl } from "./evaluation.js";
export {
  type Inspection,
  type InspectOptions,
  Inspector,
  type InspectorPage,
  type InspectorPart,
  type InspectorRange,
  inspecting,
} from "./inspector.js";
export {
  image,
  type PackageProfile,
  packages,
  profiling,
  type SampledFunction,
  systems,
  type ThreadInfo,
  type TracedCall,
  type TracedValue,
  type TraceReport,
  tracing,
} from "./program.js";
