export type { Unwinding } from "../evaluation/stop-calls.js";
export type { ConnectionInfo } from "../handshake/handshake.js";
export {
  type LocationPlace,
  type LocationPosition,
  location,
  type SourceLocation,
} from "../source-text/source-text.js";
export {
  type CodeOrigin,
  type CodeToCompile,
  type Compilation,
  type CompiledFile,
  type CompileFileOptions,
  type CompilerNote,
  compileFile,
  compiling,
  expanding,
  type FileCompilation,
  type MacroStep,
  type Policy,
  type Severity,
} from "./compiling.js";
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
export {
  type AproposEntry,
  type AproposListOptions,
  type DefinitionPlace,
  definitions,
  type XrefGroup,
  type XrefKind,
} from "./definitions.js";
export { type ChannelRepl, type CurrentPackage, evaluation, type GrabbedOutput, image, repl } from "./evaluation.js";
export { type Inspection, type InspectorPart, type InspectorRange, inspecting } from "./inspecting.js";
export { type InspectOptions, Inspector, type InspectorPage } from "./inspector.js";
export { packages, systems } from "./systems.js";
export type { ThreadInfo } from "./threads.js";
export {
  type PackageProfile,
  profiling,
  type SampledFunction,
  type TracedCall,
  type TracedValue,
  type TraceReport,
  tracing,
} from "./watching.js";
