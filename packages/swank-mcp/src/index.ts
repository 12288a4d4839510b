export {
  EVERY_TOOL,
  type JsonObject,
  jsonAnswer,
  type ToolAnswer,
  ToolGuide,
  textAnswer,
  withBoundedMeta,
} from "./base/answer.js";
export { clientSetup } from "./base/client-setup.js";
export {
  ALL_OPTIONS,
  type Config,
  environmentName,
  FAMILIES,
  type Family,
  helpText,
  type Option,
  OptionError,
  readConfig,
} from "./base/config.js";
export { type End, Lifetime, OutputQueue, type Service } from "./base/lifetime.js";
export { explainError, explainUnattached, REFUSALS, Refusal, type RefusalCode } from "./base/refusals.js";
export { VERSION } from "./base/version.js";
export { plainCode, readArguments } from "./call/arguments.js";
export { CallLedger, type CallRecord, callLine, type LedgerEntry, LedgerFile, type LedgerLine } from "./call/ledger.js";
export {
  defineStopTool,
  type ReadOnlyStop,
  readStopAddress,
  type StopAddress,
  type StopPlan,
  type StopRequest,
  type StopToolDeclaration,
} from "./call/stop-tool.js";
export {
  type DeclaredTool,
  defineTool,
  EFFECTS,
  type Effect,
  type Plan,
  type Tool,
  type ToolContext,
  type ToolDeclaration,
} from "./call/tool.js";
export {
  COMMANDS,
  type CommandInput,
  type Completions,
  type ConsoleCommand,
  commandsText,
  completionsFor,
  offeredCommands,
  usageText,
} from "./console/commands.js";
export { answerText, type ConsoleOptions, LiveOutput, LiveView, serveConsole } from "./console/console.js";
export { jsonText } from "./console/json-text.js";
export {
  consolePrompt,
  continuationPrompt,
  type Entry,
  HISTORY_SIZE,
  HistoryFile,
  historyPath,
  readEntry,
  stopOf,
  type Unfinished,
} from "./console/read-entry.js";
export { INSTRUCTIONS, READ_ONLY_INSTRUCTIONS } from "./mcp/instructions.js";
export { type McpEndpoint, type McpEvents, type McpStreams, serveMcp } from "./mcp/server.js";
export { StdioLines } from "./mcp/stdio-lines.js";
export { OUTCOME_META, outcomeData } from "./report/data.js";
export { symbolBlocks } from "./report/names.js";
export { noteLines, reportText } from "./report/report.js";
export { argumentsOf, fullBacktrace, lastErrorText, liveStopText, localsBesideCall, NO_ERROR } from "./report/stop.js";
export { serverOf } from "./serve.js";
export { AgentSession, KeptOutputs, LastError, Notices, type Place } from "./session/agent.js";
export {
  type ApprovalAnswer,
  type ApprovalMode,
  type ApprovalRequest,
  Approvals,
  type ApprovalWatch,
  type Approver,
  type Ask,
  type AskInEmacs,
  type AskInEmacsOptions,
  type AskOptions,
  detailText,
  isShownWhole,
  type Operation,
  promptText,
  type Question,
  type Reply,
} from "./session/approvals.js";
export { attachedOrigin } from "./session/attached-image.js";
export {
  type Answerable,
  type Conclusion,
  type ConditionEnding,
  conclude,
  type Ending,
  type Followed,
  followEvaluation,
  type LastErrorChange,
} from "./session/conclusion.js";
export {
  ImageHost,
  type ImageOrigin,
  type ImageUser,
  LispSession,
  type OpenSession,
  type SessionParts,
} from "./session/image.js";
export { openSession } from "./session/open-image.js";
export { innermost, StopKeeper, type StopLimits } from "./session/stops.js";
export { CATALOGUE, chooseTools } from "./tools/catalogue.js";
export { definitionsBlocks, LISTED_TYPES, type ListedType, NO_DEFINITIONS } from "./tools/list-definitions.js";
export { resetText } from "./tools/reset-session.js";
export { chooseRestart, type RestartChoice, restartTaken } from "./tools/restart-choice.js";
export { ToolServer, type ToolServerOptions } from "./tools/tool-server.js";
