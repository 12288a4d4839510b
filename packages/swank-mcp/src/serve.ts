import { type Config, FAMILIES } from "./base/config.js";
import { defectReporter, type Log } from "./base/log.js";
import { CallLedger, callLog, LedgerFile } from "./call/ledger.js";
import type { CallRecorder } from "./call/recorder.js";
import { AgentSession } from "./session/agent.js";
import { AgentName, ImageHost, type OpenSession } from "./session/image.js";
import { Neighbours } from "./session/neighbours.js";
import { openBeside, openForOthers, openSession, openUnnamed } from "./session/open-image.js";
import { ToolServer } from "./tools/tool-server.js";

/** Milliseconds that a call waits for the user's files in a new image: many hosts give up after 60 s. A console waits for ever. */
const LONGEST_WAIT = 45_000;

/** The tools for the only client of a process, with their own image host. Logs every call and defect. @param names - The client's own for tools. */
export function serverOf(config: Config, log: Log, names?: ReadonlyMap<string, string>): ToolServer {
  const name = new AgentName();
  const host = new ImageHost(openSession(config, log, name), longestWait(config));
  const ledger = config.ledger === undefined ? undefined : openLedger(config.ledger, log);
  return toolsOf({ agent: new AgentSession(host, config, name), log, ledger, names });
}

function longestWait({ command }: Config): number | undefined {
  return command === "console" ? undefined : LONGEST_WAIT;
}

export interface AgentsRecord {
  readonly facts: Readonly<Record<string, string>>;
  recorderOf(agent: AgentSession): CallRecorder;
}

/** Makes the tools of each of several clients, which share nothing but the image. */
export interface ClientTools {
  /** Keeps an image that this process launches; `undefined` for an image that is attached. */
  readonly keeper: ImageHost | undefined;
  /**
   * @param name - The client's name, for the log, the ledger, and those who share the image.
   * @param person - Whose client it is: another person's threads are that person's.
   * @param names - The client's own names for tools.
   */
  open(name: string, person: string, names?: ReadonlyMap<string, string>): ToolServer;
  /** All tools for a person who uses the image beside the agents, without their limits: the image's record does not name the person as one. */
  openPerson(name: string, recorderOf: AgentsRecord["recorderOf"]): ToolServer;
  readonly agents: Neighbours;
  close(): Promise<void>;
}

/** The same for several clients: each has a connection to the image, an agent session and an image host of its own. */
export function clientTools(config: Config, log: Log, record?: AgentsRecord): ClientTools {
  const wait = longestWait(config);
  const { keeper, openFor } = sharedImage(config, log, wait);
  // While no client is connected, background threads stop for this agent, which ends their stops after a while.
  const caretaker = keeper === undefined ? undefined : new AgentSession(keeper, config);
  const ledger = config.ledger === undefined ? undefined : openLedger(config.ledger, log);
  const neighbours = new Neighbours();
  return {
    keeper,
    agents: neighbours,
    open(text, person, names) {
      const name = namedAgent(text);
      const agent = new AgentSession(new ImageHost(openFor(config, name), wait), config, name, neighbours);
      neighbours.add(agent, person);
      if (record !== undefined) agent.facts = record.facts;
      return toolsOf({ agent, log, ledger, names, recorder: record?.recorderOf(agent) });
    },
    openPerson(text, recorderOf) {
      const own: Config = {
        ...config,
        tools: FAMILIES,
        approval: "off",
        foreignErrors: "theirs",
        readOnly: config.pageReadOnly,
      };
      const agent = new AgentSession(new ImageHost(openFor(own), wait), own, namedAgent(text));
      return toolsOf({ agent, log, ledger, recorder: recorderOf(agent) });
    },
    async close() {
      await keeper?.close();
      caretaker?.close();
    },
  };
}

interface SharedImage {
  readonly keeper: ImageHost | undefined;
  /** The way to open a session of one client; without a name for a person, whom the image's record does not name. */
  openFor(how: Config, name?: AgentName): OpenSession;
}

function sharedImage(config: Config, log: Log, wait: number | undefined): SharedImage {
  const { attach } = config;
  if (attach !== undefined)
    return {
      keeper: undefined,
      openFor: (how, name) => (name === undefined ? openUnnamed(attach, how, log) : openSession(how, log, name)),
    };
  const keeper = new ImageHost(openForOthers(config, log), wait);
  return { keeper, openFor: (how, name) => openBeside(keeper, how, log, name) };
}

function namedAgent(text: string): AgentName {
  const name = new AgentName();
  name.set(text);
  return name;
}

interface ToolsParts {
  readonly agent: AgentSession;
  readonly log: Log;
  readonly ledger: LedgerFile | undefined;
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly recorder?: CallRecorder | undefined;
}

function toolsOf({ agent, log, ledger, names, recorder }: ToolsParts): ToolServer {
  const { config, host, name } = agent;
  return new ToolServer(agent, {
    ...(names === undefined ? {} : { names }),
    recorders: [
      ...(recorder === undefined ? [] : [recorder]),
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
