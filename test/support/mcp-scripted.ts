import { SwankError } from "swank-client";
import { type LispSession, lispSession } from "#swank-mcp/session/image.js";
import { SILENT, stopData } from "./mcp-outcomes.js";
import { only } from "./only.js";

export type ScriptedEvaluation = ReturnType<LispSession["client"]["evaluate"]>;
export type ScriptedOutcome = Awaited<ReturnType<ScriptedEvaluation["next"]>>;
export type ScriptedStop = Extract<ScriptedOutcome, { status: "stopped" }>["stop"];

/** Returns an evaluation with only the given methods. All others fail. */
export function evaluation(parts: Partial<ScriptedEvaluation>): ScriptedEvaluation {
  return only("evaluation", {
    thread: undefined,
    userWait: 0,
    isSent: true,
    begun: async () => true,
    awaitedLock: undefined,
    takeTranscript: () => SILENT,
    ...parts,
  });
}

/** Returns an evaluation that ends immediately with this outcome. */
export function settled(outcome: ScriptedOutcome): ScriptedEvaluation {
  return evaluation({ next: async () => outcome });
}

/** Returns the error with which `Evaluation.next` rejects after its timeout. */
export function waitTimeout(): SwankError {
  return new SwankError("WAIT_TIMEOUT", "Nothing yet.");
}

/** Returns a stop that is live until the test changes `isLive`. */
export function stop(
  thread: number,
  level = 1,
  parts: Partial<ScriptedStop["data"]> = {},
): ScriptedStop & { isLive: boolean } {
  const data = stopData(thread, level, parts);
  return { data, thread, level, isLive: true, condition: data.condition };
}

export type ScriptedSession = LispSession & {
  /** Ends the connection, as when the image dies. */
  readonly lose: () => void;
  readonly isClosed: () => boolean;
};

const INFO: LispSession["client"]["info"] = {
  pid: 1,
  style: "spawn",
  implementation: { type: "SBCL", name: "sbcl", version: "2.2.9", program: undefined },
  machine: { instance: undefined, type: undefined, version: undefined },
  features: [],
  modules: [],
  package: { name: "COMMON-LISP-USER", prompt: "CL-USER" },
  version: "2.27",
};

/** Returns a session in which `evaluate` makes the evaluation of each code. */
export function scriptedSession(
  evaluate: (code: string) => ScriptedEvaluation = () => evaluation({}),
  options: {
    readonly pid?: number;
    readonly identity?: string;
    readonly loss?: string;
    readonly remarks?: readonly string[];
  } = {},
): ScriptedSession {
  let closed = false;
  let lose = () => {};
  const lost = new Promise<SwankError>((resolve) => {
    lose = () => resolve(new SwankError("CONNECTION_LOST", "It is gone."));
  });
  const session = lispSession({
    client: only("client", {
      abilities: only("abilities", { missing: [], has: () => true, require: () => undefined }),
      definitions: async () => ({ definitions: [], loaded: [] }),
      info: { ...INFO, pid: options.pid ?? 1 },
      isOpen: true,
      otherClients: async () => 0,
      faults: async () => [],
      askUser: async () => ({ answer: "nobody" }),
      canAskUser: async () => false,
      closed: lost,
      close: async () => {},
      evaluate,
      stops: [],
      evaluations: [],
      activity: only("activity", { isRecorded: false, running: async () => [] }),
      foreignStops: async () => [],
      on: () => () => undefined,
    }),
    origin: { kind: "own" },
    identity: options.identity ?? `${options.pid ?? 1}`,
    remarks: options.remarks ?? [],
    directory: async () => "/tmp/",
    explainLoss: async () => options.loss ?? "The image is gone.",
    close: async () => {
      closed = true;
    },
  });
  return Object.assign(session, { lose: () => lose(), isClosed: () => closed });
}
