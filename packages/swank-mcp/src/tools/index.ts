import type { Tool } from "../tool.js";
import { breakpointList } from "./breakpoint-list.js";
import { breakpointRemove } from "./breakpoint-remove.js";
import { breakpointSet } from "./breakpoint-set.js";
import { debuggerContinue } from "./debugger-continue.js";
import { debuggerEvalInFrame } from "./debugger-eval-in-frame.js";
import { debuggerFrameLocals } from "./debugger-frame-locals.js";
import { debuggerFrames } from "./debugger-frames.js";
import { debuggerInvokeRestart } from "./debugger-invoke-restart.js";
import { debuggerRestarts } from "./debugger-restarts.js";
import { debuggerStep } from "./debugger-step.js";
import { describeLastError } from "./describe-last-error.js";
import { describeSymbol } from "./describe-symbol.js";
import { evaluateLisp } from "./evaluate-lisp.js";
import { getBacktrace } from "./get-backtrace.js";
import { lispStatus } from "./lisp-status.js";
import { listDefinitions } from "./list-definitions.js";
import { resetSession } from "./reset-session.js";

/** Every tool, in the order in which `tools/list` names them. */
export const TOOLS: readonly Tool[] = [
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
];
