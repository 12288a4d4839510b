export { backtrace } from "./backtrace.js";
export { type ConnectionInfo, connectionInfo } from "./connection-info.js";
export { defaultDirectory } from "./default-directory.js";
export { evalAndGrabOutput, type GrabbedOutput } from "./eval-and-grab-output.js";
export { type FrameContents, frameLocalsAndCatchTags, type WireLocal } from "./frame-locals-and-catch-tags.js";
export { frameSourceLocation } from "./frame-source-location.js";
export { invokeNthRestartForEmacs } from "./invoke-nth-restart-for-emacs.js";
export { listThreads, type ThreadInfo } from "./list-threads.js";
export { type LocationPlace, type LocationPosition, location, type SourceLocation } from "./location.js";
export { operatorArglist } from "./operator-arglist.js";
export { evalStringInFrame, pprintEvalStringInFrame } from "./pprint-eval-string-in-frame.js";
export { processStart } from "./process-start.js";
export { simpleCompletions } from "./simple-completions.js";
export { sldbAbort } from "./sldb-abort.js";
export { sldbContinue } from "./sldb-continue.js";
export {
  type CodeOrigin,
  type CodeToCompile,
  type Compilation,
  type CompilerNote,
  compileFileForEmacs,
  compileFileIfNeeded,
  compileMultipleStringsForEmacs,
  compileStringForEmacs,
  type FileCompilation,
  type Policy,
  type Severity,
} from "./swank-compilation.js";
export {
  autodoc,
  type Completions,
  completeForm,
  completions,
  completionsForCharacter,
  completionsForKeyword,
  type FuzzyCompletion,
  type FuzzyCompletions,
  type FuzzyOptions,
  fuzzyCompletions,
  type RawForm,
} from "./swank-completion.js";
export {
  type DebuggerInfo,
  debuggerInfoForEmacs,
  debugNthThread,
  framePackageName,
  invokeNthRestart,
  killNthThread,
  quitThreadBrowser,
  restartFrameCall,
  sdlbPrintCondition,
  sldbDisassemble,
  sldbNext,
  sldbOut,
  sldbReturnFromFrame,
  sldbStep,
  toggleBreakOnSignals,
} from "./swank-debugging.js";
export {
  type AproposEntry,
  type AproposListOptions,
  aproposListForEmacs,
  type DefinitionPlace,
  describeDefinitionForEmacs,
  describeFunction,
  describeSymbolText,
  documentationSymbol,
  findDefinitionsForEmacs,
  findSourceLocationForEmacs,
  hyperdoc,
  mop,
  type XrefGroup,
  type XrefKind,
  xref,
  xrefGroups,
} from "./swank-definitions.js";
export {
  type ChannelRepl,
  type CurrentPackage,
  clearReplVariables,
  commitEditedValue,
  createMrepl,
  createRepl,
  interactiveEval,
  interactiveEvalRegion,
  listenerEval,
  listenerGetValue,
  listenerSaveValue,
  loadFile,
  pprintEval,
  quitLisp,
  redirectTraceOutput,
  reEvaluateDefvar,
  setDefaultDirectory,
  setPackage,
  undefineFunction,
  uninternSymbol,
  updateIndentationInformation,
  valueForEditing,
} from "./swank-evaluation.js";
export {
  disassembleForm,
  type MacroStep,
  macroFormP,
  macrostepExpand1,
  swankCompilerMacroexpand,
  swankCompilerMacroexpand1,
  swankExpand,
  swankExpand1,
  swankFormatStringExpand,
  swankMacroexpand,
  swankMacroexpand1,
  swankMacroexpandAll,
} from "./swank-expansion.js";
export {
  describeInspectee,
  type Inspection,
  type InspectorPart,
  type InspectorRange,
  initInspector,
  inspectCurrentCondition,
  inspectFrameFunction,
  inspectFrameVar,
  inspectInFrame,
  inspectNthPart,
  inspectNthRestart,
  inspectorCallNthAction,
  inspectorEval,
  inspectorHistory,
  inspectorNext,
  inspectorPop,
  inspectorRange,
  inspectorReinspect,
  inspectorToggleVerbose,
  pprintInspectorPart,
  quitInspector,
} from "./swank-inspection.js";
export {
  asdfDetermineSystem,
  asdfSystemDirectory,
  asdfSystemFiles,
  asdfSystemLoadedP,
  deleteSystemFasls,
  exportStructure,
  exportSymbolForEmacs,
  listAllPackageNames,
  listAllSystemsInCentralRegistry,
  listAsdfSystems,
  listQuicklispSystems,
  operateOnSystemForEmacs,
  reloadSystem,
  swankDeletePackage,
  unexportSymbolForEmacs,
  whoDependsOn,
} from "./swank-packages.js";
export {
  type PackageProfile,
  profileBySubstring,
  profiledFunctions,
  profileReport,
  profileReset,
  type SampledFunction,
  swankProfilePackage,
  swankSprofDisassemble,
  swankSprofGetCallGraph,
  swankSprofStart,
  swankSprofStop,
  toggleProfileFdefinition,
  unprofileAll,
} from "./swank-profiling.js";
export {
  clearTraceTree,
  dialogToggleTrace,
  dialogUntraceAll,
  inspectTracePart,
  reportPartialTree,
  reportSpecs,
  reportTotal,
  reportTraceDetail,
  swankToggleTrace,
  type TracedCall,
  type TracedValue,
  type TraceReport,
  untraceAll,
} from "./swank-tracing.js";
export { throwToToplevel } from "./throw-to-toplevel.js";
export type { Unwinding } from "./unwinding.js";
