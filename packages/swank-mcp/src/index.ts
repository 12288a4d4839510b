/** The server without its process: for embedding it, and for other ways to show what Lisp answers. */

export { AgentSession, type Place } from "./agent/agent-session.js";
export {
  type ApprovalRequest,
  detailText,
  isShownWhole,
  type Operation,
  promptText,
} from "./agent/approval-request.js";
export type { ApprovalAnswer, ApprovalWatch } from "./agent/approval-watch.js";
export { type ApprovalMode, Approvals, type Approver } from "./agent/approvals.js";
export type { Ask, AskOptions, Question, Reply } from "./agent/elicitation.js";
export type { AskInEmacs, AskInEmacsOptions } from "./agent/emacs-question.js";
export { KeptOutputs } from "./agent/kept-outputs.js";
export { LastError } from "./agent/last-error.js";
export { Notices } from "./agent/notices.js";
export { StopKeeper, type StopLimits } from "./agent/stop-keeper.js";
export { CodeCache } from "./boot/code-cache.js";
export { optimizationSettings } from "./boot/optimize-sooner.js";
export { defineStopTool, type StopToolDeclaration } from "./calls/define-stop-tool.js";
export { defineTool, type Plan, type ToolDeclaration } from "./calls/define-tool.js";
export { EFFECTS, type Effect } from "./calls/effects.js";
export { plainCode } from "./calls/plain-code.js";
export { readArguments } from "./calls/read-arguments.js";
export { readStopAddress, type StopAddress } from "./calls/stop-address.js";
export type { ReadOnlyStop, StopPlan, StopRequest } from "./calls/stop-plan.js";
export type { DeclaredTool, Tool } from "./calls/tool.js";
export type { ToolContext } from "./calls/tool-context.js";
export { clientSetup } from "./cli/client-setup.js";
export { type Config, readConfig } from "./cli/config.js";
export { FAMILIES, type Family } from "./cli/families.js";
export { helpText } from "./cli/help.js";
export { environmentName, type Option, OptionError } from "./cli/option.js";
export { ALL_OPTIONS } from "./cli/options.js";
export { answerText } from "./console/answer-text.js";
export { COMMANDS, type CommandInput, type ConsoleCommand, offeredCommands, usageText } from "./console/commands.js";
export { type Completions, completionsFor } from "./console/completer.js";
export { commandsText } from "./console/help-text.js";
export { HISTORY_SIZE, HistoryFile, historyPath } from "./console/history-file.js";
export { jsonText } from "./console/json-text.js";
export { LiveOutput } from "./console/live-output.js";
export { LiveView } from "./console/live-view.js";
export { consolePrompt, continuationPrompt, stopOf } from "./console/prompt.js";
export { type Entry, readEntry, type Unfinished } from "./console/read-entry.js";
export { type ConsoleOptions, serveConsole } from "./console/serve-console.js";
export {
  type Answerable,
  type Conclusion,
  type ConditionEnding,
  conclude,
  type Ending,
  type LastErrorChange,
} from "./evaluation/conclusion.js";
export { type Followed, followEvaluation } from "./evaluation/follow-evaluation.js";
export { fullBacktrace } from "./format/backtrace.js";
export { argumentsOf, localsBesideCall } from "./format/call-arguments.js";
export { definitionsBlocks, LISTED_TYPES, type ListedType, NO_DEFINITIONS } from "./format/definition-list.js";
export { lastErrorText, NO_ERROR } from "./format/last-error-text.js";
export { liveStopText } from "./format/live-stop.js";
export { noteLines } from "./format/notes.js";
export { OUTCOME_META, outcomeData } from "./format/outcome-data.js";
export { reportText } from "./format/report.js";
export { resetText } from "./format/reset-text.js";
export { symbolBlocks } from "./format/symbol-blocks.js";
export { attachedOrigin } from "./image/attached-origin.js";
export { ImageHost, type ImageUser } from "./image/image-host.js";
export { innermost } from "./image/innermost.js";
export { type ImageOrigin, LispSession, type OpenSession, type SessionParts } from "./image/lisp-session.js";
export { openSession } from "./image/open-session.js";
export { DirectCalls, type DirectCallsOptions, type ReceivedCall, type SentCall } from "./mcp/direct-calls.js";
export { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "./mcp/instructions.js";
export { isKnownMessage, type McpEndpoint, type McpEvents, serveMcp } from "./mcp/sdk-adapter.js";
export { LineTransport, type LineTransportOptions } from "./mcp/transport/line-transport.js";
export type { Message, MessageId, Notification, Request, Response } from "./mcp/transport/message.js";
export { LedgerFile, type LedgerLine } from "./process/ledger-file.js";
export { type End, Lifetime, type Service } from "./process/lifetime.js";
export { OutputQueue } from "./process/output-queue.js";
export { VERSION } from "./process/version.js";
export { explainError } from "./refusals/explain-error.js";
export { explainUnattached } from "./refusals/explain-unattached.js";
export { REFUSALS, Refusal, type RefusalCode } from "./refusals/refusal.js";
export { type JsonObject, jsonAnswer, type ToolAnswer, textAnswer, withBoundedMeta } from "./text/tool-answer.js";
export { EVERY_TOOL, ToolGuide } from "./text/tool-guide.js";
export { CallLedger, type LedgerEntry } from "./tools/call-ledger.js";
export { type CallRecord, callLine } from "./tools/call-line.js";
export { CATALOGUE, chooseTools } from "./tools/catalogue.js";
export { chooseRestart, type RestartChoice, restartTaken } from "./tools/debug/restart-choice.js";
export { serverOf } from "./tools/server-of.js";
export { ToolServer, type ToolServerOptions } from "./tools/tool-server.js";
