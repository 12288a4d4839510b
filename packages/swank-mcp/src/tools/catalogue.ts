import { ToolGuide } from "../base/answer.js";
import type { Config } from "../base/config.js";
import type { DeclaredTool, Tool } from "../call/tool.js";
import { aproposSearch } from "./apropos-search.js";
import { breakpointList, breakpointRemove, breakpointSet } from "./breakpoints.js";
import { classInfo } from "./class-info.js";
import { compileCode } from "./compile-code.js";
import { debuggerContinue, debuggerStep } from "./continue.js";
import { describeSymbol } from "./describe-symbol.js";
import { evaluateLisp } from "./evaluate-lisp.js";
import { findReferences } from "./find-references.js";
import { debuggerEvalInFrame, debuggerFrameLocals, debuggerFrames, debuggerRestarts } from "./frames.js";
import { heap } from "./heap.js";
import { inspectObject } from "./inspect-object.js";
import { interruptThread } from "./interrupt-thread.js";
import { debuggerInvokeRestart } from "./invoke-restart.js";
import { describeLastError, getBacktrace } from "./last-error.js";
import { lispStatus } from "./lisp-status.js";
import { listChanges } from "./list-changes.js";
import { listDefinitions } from "./list-definitions.js";
import { listThreads } from "./list-threads.js";
import { loadChanges } from "./load-changes.js";
import { loadSystem } from "./load-system.js";
import { macroexpandForm } from "./macroexpand-form.js";
import { outline } from "./outline.js";
import { profileCode } from "./profile-code.js";
import { resetSession } from "./reset-session.js";
import { runTests } from "./run-tests.js";
import { saveChanges } from "./save-changes.js";
import { searchSource } from "./search-source.js";
import { showSource } from "./show-source.js";
import { traceCalls } from "./trace-calls.js";

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
  outline,
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
  unusable?: () => readonly string[],
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
      unusable,
    ),
  };
}
