/** The server without its process: for embedding it, and for other ways to show what Lisp answers. */

export { type ApprovalRequest, detailText, isShownWhole, type Operation, promptText } from "./approval-request.js";
export { type ApprovalMode, Approvals, type Approver } from "./approvals.js";
export { attachedOrigin } from "./attached-origin.js";
export { clientSetup } from "./client-setup.js";
export {
  type Answerable,
  type Conclusion,
  type ConditionEnding,
  conclude,
  type Ending,
  type LiveStop,
} from "./conclusion.js";
export { type Config, readConfig } from "./config.js";
export { answerText } from "./console/answer-text.js";
export { COMMANDS, type CommandInput, type ConsoleCommand, usageText } from "./console/commands.js";
export { type Completions, completionsFor } from "./console/completer.js";
export { commandsText } from "./console/help-text.js";
export { HISTORY_SIZE, HistoryFile, historyPath } from "./console/history-file.js";
export { jsonText } from "./console/json-text.js";
export { LiveOutput } from "./console/live-output.js";
export { consolePrompt, continuationPrompt, stopOf } from "./console/prompt.js";
export { type Entry, readEntry, type Unfinished } from "./console/read-entry.js";
export { runConsole } from "./console/run-console.js";
export type { Ask, AskOptions, Question, Reply } from "./elicitation.js";
export { explainError } from "./explain-error.js";
export { explainUnattached } from "./explain-unattached.js";
export { type Followed, followEvaluation } from "./follow-evaluation.js";
export { fullBacktrace } from "./format/backtrace.js";
export { definitionsBlocks, LISTED_TYPES, type ListedType, NO_DEFINITIONS } from "./format/definition-list.js";
export { lastErrorText, NO_ERROR } from "./format/last-error-text.js";
export { liveStopText } from "./format/live-stop.js";
export { OUTCOME_META, outcomeData } from "./format/outcome-data.js";
export { reportText } from "./format/report.js";
export { resetText } from "./format/reset-text.js";
export { symbolBlocks } from "./format/symbol-blocks.js";
export { helpText } from "./help.js";
export { INSTRUCTIONS } from "./instructions.js";
export { LastError, type LastErrorChange } from "./last-error.js";
export { LispContext } from "./lisp-context.js";
export { type ImageOrigin, LispSession, type OpenSession, type SessionParts } from "./lisp-session.js";
export { Notices } from "./notices.js";
export { openSession } from "./open-session.js";
export { environmentName, type Option, OptionError } from "./option.js";
export { ALL_OPTIONS } from "./options.js";
export { REFUSALS, Refusal, type RefusalCode } from "./refusal.js";
export { chooseRestart, type RestartChoice } from "./restart-choice.js";
export { isKnownMessage, type McpEndpoint, type McpEvents, serveMcp } from "./sdk-adapter.js";
export { innermost, readStopAddress, type StopAddress } from "./stop-address.js";
export { StopKeeper, type StopLimits } from "./stop-keeper.js";
export { defineTool, type Tool, type ToolContext, type ToolDeclaration } from "./tool.js";
export { type JsonObject, jsonAnswer, type ToolAnswer, textAnswer } from "./tool-answer.js";
export { type Place, ToolServer } from "./tool-server.js";
export { TOOLS } from "./tools/index.js";
export { LineTransport, type LineTransportOptions } from "./transport/line-transport.js";
export type { Message, MessageId, Notification, Request, Response } from "./transport/message.js";
export { OutputQueue } from "./transport/output-queue.js";
export { VERSION } from "./version.js";
