import { AgentSession } from "../agent/agent-session.js";
import type { Config } from "../cli/config.js";
import { AgentName } from "../image/agent-name.js";
import { ImageHost } from "../image/image-host.js";
import { openSession } from "../image/open-session.js";
import { defectReporter } from "../process/defects.js";
import { LedgerFile } from "../process/ledger-file.js";
import type { Log } from "../process/log.js";
import { CallLedger } from "./call-ledger.js";
import { callLine } from "./call-line.js";
import { ToolServer } from "./tool-server.js";

/** Milliseconds that a call waits for the user's files in a new image: many hosts give up after 60 s. A console waits for ever. */
const LONGEST_WAIT = 45_000;

export interface ServerSettings {
  /** The client's own names for tools. */
  readonly names?: ReadonlyMap<string, string>;
  /** Called after every call. */
  readonly onCall: () => void;
}

/** The tools for the only client of a process, with their own image host. Logs every call and defect. */
export function serverOf(config: Config, log: Log, { onCall, ...settings }: ServerSettings): ToolServer {
  const name = new AgentName();
  const host = new ImageHost(openSession(config, log, name), config.command === "serve" ? LONGEST_WAIT : undefined);
  return new ToolServer(new AgentSession(host, config, name), {
    ...settings,
    ledger: config.ledger === undefined ? undefined : openLedger(config.ledger, name, log),
    onCall: (record) => {
      log(callLine(record));
      onCall();
    },
    onDefect: defectReporter(log, config.verbose),
  });
}

/** A failure is reported on standard error even without a log: the user wants to know what the agent does. */
function openLedger(path: string, name: AgentName, log: Log): CallLedger {
  const file = new LedgerFile(path, (problem) => {
    log(`the ledger cannot be written: ${problem}`);
    process.stderr.write(`swank-mcp: the ledger cannot be written, and calls go on without it: ${problem}\n`);
  });
  return new CallLedger((line) => file.append(line), name);
}
