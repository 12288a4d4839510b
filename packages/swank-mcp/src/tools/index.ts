import type { Tool } from "../tool.js";
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
];
