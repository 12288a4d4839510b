import type { Config } from "./base/config.js";
import { defectReporter, type Log } from "./base/log.js";
import { CallLedger, callLine, LedgerFile } from "./call/ledger.js";
import { AgentSession } from "./session/agent.js";
import { AgentName, ImageHost } from "./session/image.js";
import { openSession } from "./session/open-image.js";
import { ToolServer } from "./tools/tool-server.js";

/** Milliseconds that a call waits for the user's files in a new image: many hosts give up after 60 s. A console waits for ever. */
const LONGEST_WAIT = 45_000;

/**
 * The tools for the only client of a process, with their own image host. Logs every call and defect.
 *
 * @param names - The client's own names for tools.
 */
export function serverOf(config: Config, log: Log, names?: ReadonlyMap<string, string>): ToolServer {
  const name = new AgentName();
  const host = new ImageHost(openSession(config, log, name), config.command === "serve" ? LONGEST_WAIT : undefined);
  const isLogged = config.logFile !== undefined || config.verbose;
  return new ToolServer(new AgentSession(host, config, name), {
    ...(names === undefined ? {} : { names }),
    ledger: config.ledger === undefined ? undefined : openLedger(config.ledger, name, log),
    onCall: (record) => {
      log(callLine(record));
      if (isLogged) logFaults(host);
    },
    onDefect: defectReporter(log, config.verbose),
  });
}

/** Logs the new faults of the image if it answers. */
function logFaults(host: ImageHost): void {
  void host
    .current()
    .then((session) => session?.faults.count())
    .catch(() => undefined);
}

/** A failure is reported on standard error even without a log: the user wants to know what the agent does. */
function openLedger(path: string, name: AgentName, log: Log): CallLedger {
  const file = new LedgerFile(path, (problem) => {
    log(`the ledger cannot be written: ${problem}`);
    process.stderr.write(`swank-mcp: the ledger cannot be written, and calls go on without it: ${problem}\n`);
  });
  return new CallLedger((line) => file.append(line), name);
}
