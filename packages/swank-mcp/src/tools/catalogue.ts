import type { DeclaredTool, Tool } from "../calls/tool.js";
import type { Config } from "../cli/config.js";
import { ToolGuide } from "../text/tool-guide.js";
import { breakpointList } from "./breakpoints/breakpoint-list.js";
import { breakpointRemove } from "./breakpoints/breakpoint-remove.js";
import { breakpointSet } from "./breakpoints/breakpoint-set.js";
import { aproposSearch } from "./code/apropos-search.js";
import { classInfo } from "./code/class-info.js";
import { compileCode } from "./code/compile-code.js";
import { findReferences } from "./code/find-references.js";
import { listChanges } from "./code/list-changes.js";
import { loadChanges } from "./code/load-changes.js";
import { loadSystem } from "./code/load-system.js";
import { macroexpandForm } from "./code/macroexpand-form.js";
import { runTests } from "./code/run-tests.js";
import { saveChanges } from "./code/save-changes.js";
import { searchSource } from "./code/search-source.js";
import { showSource } from "./code/show-source.js";
import { describeLastError } from "./core/describe-last-error.js";
import { describeSymbol } from "./core/describe-symbol.js";
import { evaluateLisp } from "./core/evaluate-lisp.js";
import { getBacktrace } from "./core/get-backtrace.js";
import { lispStatus } from "./core/lisp-status.js";
import { listDefinitions } from "./core/list-definitions.js";
import { resetSession } from "./core/reset-session.js";
import { debuggerContinue } from "./debug/debugger-continue.js";
import { debuggerEvalInFrame } from "./debug/debugger-eval-in-frame.js";
import { debuggerFrameLocals } from "./debug/debugger-frame-locals.js";
import { debuggerFrames } from "./debug/debugger-frames.js";
import { debuggerInvokeRestart } from "./debug/debugger-invoke-restart.js";
import { debuggerRestarts } from "./debug/debugger-restarts.js";
import { debuggerStep } from "./debug/debugger-step.js";
import { heap } from "./runtime/heap.js";
import { inspectObject } from "./runtime/inspect-object.js";
import { interruptThread } from "./runtime/interrupt-thread.js";
import { listThreads } from "./runtime/list-threads.js";
import { profileCode } from "./runtime/profile-code.js";
import { traceCalls } from "./runtime/trace-calls.js";

/** Every tool, in the order of `tools/list`. */
export const CATALOGUE: readonly DeclaredTool[] = [
  evaluateLisp,
  describeLastError,
  getBacktrace,
  describeSymbol,
  listDefinitions,
  resetSession,
  lispStatus,
  debuggerFrames,
  debuggerFrameLocals,
  debuggerEvalInFrame,
  debuggerRestarts,
  debuggerInvokeRestart,
  breakpointSet,
  breakpointRemove,
  breakpointList,
  debuggerStep,
  debuggerContinue,
  showSource,
  aproposSearch,
  searchSource,
  macroexpandForm,
  listChanges,
  loadChanges,
  findReferences,
  compileCode,
  saveChanges,
  classInfo,
  loadSystem,
  runTests,
  listThreads,
  interruptThread,
  traceCalls,
  profileCode,
  inspectObject,
  heap,
];

/**
 * The tools that a configuration switches on, those that it withholds because they do more than read, and a guide that recommends only the
 * former, by the names that the client has for them.
 */
export function chooseTools(
  config: Config,
  catalogue: readonly DeclaredTool[] = CATALOGUE,
  names?: ReadonlyMap<string, string>,
): { readonly tools: readonly Tool[]; readonly withheld: readonly string[]; readonly guide: ToolGuide } {
  const isChosen = ({ family }: DeclaredTool) => config.tools.includes(family);
  const mayRun = ({ canOnlyRead }: DeclaredTool) => canOnlyRead || !config.readOnly;
  const isOn = (tool: DeclaredTool) => isChosen(tool) && mayRun(tool);
  return {
    tools: catalogue.filter(isOn).map((tool) => tool.for(config)),
    withheld: catalogue.filter((tool) => isChosen(tool) && !mayRun(tool)).map(({ name }) => name),
    guide: new ToolGuide(
      catalogue.filter((tool) => !isOn(tool)).map(({ name }) => name),
      names,
    ),
  };
}
