/**
 * Connects to a Common Lisp image, or starts one; evaluates code there, and debugs it.
 *
 * @module swank-client
 */

export { type Decoder, decode, keyword, list, NIL, print, quote, read, type Sexp, symbol, T } from "sexp-parser";
export type { SwankErrorCode } from "./base/errors.js";
export { ERROR_CODES, SwankError } from "./base/errors.js";
export type { Breakpoint } from "./calls/breakpoint.js";
export type { ErrorSnapshot, Restart } from "./calls/condition.js";
export type { Definitions, ResetReport } from "./calls/definition.js";
export { DEFINITION_KINDS } from "./calls/definition.js";
export type { Frame } from "./calls/frames.js";
export * as calls from "./calls/index.js";
export type { StopData } from "./calls/stop-data.js";
export type { SymbolDescription } from "./calls/symbol-description.js";
export type { LispWarning } from "./calls/warning.js";
export { SwankClient } from "./client.js";
export type { ClientEvents } from "./client-events.js";
export type { ConnectOptions } from "./connect.js";
export { connect } from "./connect.js";
export type { Evaluation, Outcome, Stop, Stopped } from "./debugger/stop.js";
export { outlineCode } from "./evaluation/code-outline.js";
export type { EvalOptions } from "./evaluation/evaluate-to-end.js";
export type { EvaluateOptions } from "./evaluation/evaluation.js";
export { EvaluationError, LispError } from "./evaluation/lisp-error.js";
export type { Aborted, Lost, Returned } from "./evaluation/outcome.js";
export { Inspector } from "./inspect/inspector.js";
export type { ConnectLaunchedOptions, LaunchOptions } from "./launch.js";
export { connectLaunched, LaunchedClient, launch } from "./launch.js";
export { type LispFunction, lispFunction } from "./lisp/descriptor.js";
export type { ReconnectOptions } from "./reconnecting-client.js";
export { ReconnectingClient } from "./reconnecting-client.js";
export { SourceText } from "./sources/source-text.js";
export type { LocatedSource, SourcesOptions } from "./sources/sources.js";
export { Sources } from "./sources/sources.js";
export { findUnbalanced } from "./sources/unbalanced.js";
