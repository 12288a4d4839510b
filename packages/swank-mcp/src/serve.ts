import type { Config } from "./base/config.js";
import { defectReporter, type Log } from "./base/log.js";
import { CallLedger, callLog, LedgerFile } from "./call/ledger.js";
import type { CallRecorder } from "./call/recorder.js";
import { AgentSession } from "./session/agent.js";
import { AgentName, ImageHost } from "./session/image.js";
import { Neighbours } from "./session/neighbours.js";
import { openBeside, openForOthers, openSession } from "./session/open-image.js";
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
  const host = new ImageHost(openSession(config, log, name), config.command === "console" ? undefined : LONGEST_WAIT);
  const ledger = config.ledger === undefined ? undefined : openLedger(config.ledger, log);
  return toolsOf({ agent: new AgentSession(host, config, name), log, ledger }, names);
}

/** Makes the tools of each of several clients, which share nothing but the image. */
export interface ClientTools {
  /**
   * @param name - The client's name, for the log, the ledger, and those who share the image.
   * @param person - Whose client it is: another person's threads are that person's.
   */
  open(name: string, person: string): ToolServer;
  /** The clients that are connected. */
  readonly agents: Neighbours;
  /** Ends a launched image. Never rejects. */
  close(): Promise<void>;
}

/** The same for several clients: each has a connection to the image, an agent session and an image host of its own. */
export function clientTools(config: Config, log: Log): ClientTools {
  const keeper = config.attach === undefined ? new ImageHost(openForOthers(config, log), LONGEST_WAIT) : undefined;
  // While no client is connected, background threads stop for this agent, which ends their stops after a while.
  const caretaker = keeper === undefined ? undefined : new AgentSession(keeper, config);
  const ledger = config.ledger === undefined ? undefined : openLedger(config.ledger, log);
  const neighbours = new Neighbours();
  return {
    agents: neighbours,
    open(text, person) {
      const name = new AgentName();
      name.set(text);
      const open = keeper === undefined ? openSession(config, log, name) : openBeside(keeper, config, log, name);
      const host = new ImageHost(open, LONGEST_WAIT);
      const agent = new AgentSession(host, config, name, neighbours);
      neighbours.add(agent, person);
      return toolsOf({ agent, log, ledger });
    },
    async close() {
      await keeper?.close();
      caretaker?.close();
    },
  };
}

interface ToolsParts {
  readonly agent: AgentSession;
  readonly log: Log;
  readonly ledger: LedgerFile | undefined;
}

function toolsOf({ agent, log, ledger }: ToolsParts, names?: ReadonlyMap<string, string>): ToolServer {
  const { config, host, name } = agent;
  return new ToolServer(agent, {
    ...(names === undefined ? {} : { names }),
    recorders: [
      ...(ledger === undefined ? [] : [new CallLedger((line) => ledger.append(line), name)]),
      ...(config.logFile === undefined && !config.verbose ? [] : [callLog(log), faultLog(host)]),
    ],
    onDefect: defectReporter(log, config.verbose),
  });
}

/** Logs the new faults of the image after each call, if it answers. */
function faultLog(host: ImageHost): CallRecorder {
  const end = () =>
    void host
      .current()
      .then((session) => session?.faults.count())
      .catch(() => undefined);
  return { begin: () => ({ end }) };
}

/** A failure is reported on standard error even without a log: the user wants to know what the agent does. */
function openLedger(path: string, log: Log): LedgerFile {
  return new LedgerFile(path, (problem) => {
    log(`the ledger cannot be written: ${problem}`);
    process.stderr.write(`swank-mcp: the ledger cannot be written, and calls go on without it: ${problem}\n`);
  });
}
