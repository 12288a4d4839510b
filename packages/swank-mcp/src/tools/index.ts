import type { Tool } from "../tool.js";
import { describeLastError } from "./describe-last-error.js";
import { evaluateLisp } from "./evaluate-lisp.js";
import { getBacktrace } from "./get-backtrace.js";
import { lispStatus } from "./lisp-status.js";

/** Every tool, in the order in which `tools/list` names them. */
export const TOOLS: readonly Tool[] = [evaluateLisp, describeLastError, getBacktrace, lispStatus];
