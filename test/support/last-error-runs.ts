import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { connect, type SwankClient } from "swank-client";
import type { HttpServer } from "./http-server.js";
import { command, type Model, type Step } from "./last-error-model.js";
import {
  BREAKPOINT,
  CANCELLATION,
  FAILURES,
  INTERLUDES,
  LOOKS,
  RACE,
  RESET,
  RESUMPTIONS,
  STOP_LOOKS,
  SUCCESSES,
} from "./last-error-steps.js";
import type { McpDriver, SentCall } from "./mcp-driver.js";
import { McpHttp } from "./mcp-http.js";
import { gone } from "./mcp-processes.js";
import { McpStdio } from "./mcp-stdio.js";
import { type RealSwank, startRealSwank } from "./real-swank.js";
import { type ServerName, USUAL_SERVER } from "./usual-server.js";

interface OwnImage {
  readonly server: McpDriver & { close(): Promise<void> };
}

interface SharedImage extends OwnImage {
  readonly other: SwankClient;
}

/** Starts an evaluation that never ends, and waits until it runs. */
async function begunEvaluation(server: McpDriver): Promise<SentCall> {
  const running = server.startCall("evaluate-lisp", { code: '(progn (princ "begun") (loop (sleep 0.01)))' });
  const told = () =>
    server.notifications.some(
      ({ params }) => params?.["message"] === "begun" && params["progressToken"] === running.id,
    );
  while (!told()) await setTimeout(5);
  return running;
}

/** Waits until the server has detected the lost connection and has reconnected. */
async function reconnected(server: McpDriver): Promise<void> {
  while ((await server.call("lisp-status")).isError === true) await setTimeout(5);
}

/** The image ends while nothing runs in it. */
const DEATH: Step<OwnImage> = {
  name: "the idle image is killed",
  run: async ({ server }) => {
    const pid = await server.imagePid();
    process.kill(pid, "SIGKILL");
    await gone(pid);
    await reconnected(server);
    return { effect: "keep" };
  },
};

/** The image ends during an evaluation. */
const LOSS: Step<OwnImage> = {
  name: "the image is killed during an evaluation",
  run: async ({ server }) => {
    const pid = await server.imagePid();
    const running = await begunEvaluation(server);
    process.kill(pid, "SIGKILL");
    return { effect: "set", report: await running.result };
  },
};

const EXIT: Step<OwnImage> = {
  name: "evaluate-lisp (exit)",
  run: async ({ server }) => ({
    effect: "set",
    report: await server.call("evaluate-lisp", { code: "(sb-ext:exit :code 3 :abort t)" }),
  }),
};

/** Cuts all connections except the caller's, as a network failure would. */
const CUTS: Readonly<Record<ServerName, string>> = { swank: cut("swank", "."), slynk: cut("slynk", "-") };

function cut(server: ServerName, separator: string): string {
  return `(dolist (connection (remove ${server}::*emacs-connection* ${server}::*connections*))
  (let ((socket (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp
                  :descriptor (sb-sys:fd-stream-fd (${server}::connection${separator}socket-io connection)))))
    (sb-ext:cancel-finalization socket)
    (sb-bsd-sockets:socket-shutdown socket :direction :io)))`;
}

function cutOff(server: ServerName): Step<SharedImage> {
  return {
    name: "the idle connection is cut",
    run: async ({ server: tools, other }) => {
      await tools.call("lisp-status");
      await other.evaluate(CUTS[server]).next();
      await reconnected(tools);
      return { effect: "keep" };
    },
  };
}

function cutShort(server: ServerName): Step<SharedImage> {
  return {
    name: "the connection is cut during an evaluation",
    run: async ({ server: tools, other }) => {
      const running = await begunEvaluation(tools);
      await other.evaluate(CUTS[server]).next();
      return { effect: "set", report: await running.result };
    },
  };
}

const COLLECTION: Step<SharedImage> = {
  name: "the heap is collected",
  run: async ({ other }) => {
    await other.evaluate("(sb-ext:gc :full t)").next();
    return { effect: "keep" };
  },
};

/** Steps for every kind of image; errors are the most frequent. */
const COMMON = [
  ...FAILURES,
  ...SUCCESSES,
  ...INTERLUDES,
  ...LOOKS,
  ...STOP_LOOKS,
  ...RESUMPTIONS,
  ...RESUMPTIONS,
  ...Array.from({ length: 4 }, () => [RESET, CANCELLATION, RACE, BREAKPOINT]).flat(),
];

function commands<World extends OwnImage>(steps: readonly Step<World>[]) {
  return fc.commands(
    steps.map((step) => fc.constant(command(step))),
    { maxCommands: 20, size: "max" },
  );
}

const fresh = (): Model => ({ error: undefined });

/** Makes random sequences of steps, each with a server that `open` returns. */
async function follow<World extends OwnImage>(
  steps: readonly Step<World>[],
  open: () => Promise<World>,
  numRuns: number,
): Promise<void> {
  const property = fc.asyncProperty(commands(steps), async (sequence) => {
    const real = await open();
    try {
      await fc.asyncModelRun(() => ({ model: fresh(), real }), sequence);
    } finally {
      await real.server.close();
    }
  });
  await fc.assert(property, { numRuns });
}

/** Declares the tests, with this number of random sequences for each kind of image. */
export function testLastErrors(numRuns: number): void {
  it("follow their contract after any sequence of calls, in a launched image", async () => {
    const open = async () => ({ server: await McpStdio.start(["--max-stops", "2"]) });
    await follow([...COMMON, DEATH, DEATH, LOSS, LOSS, EXIT], open, numRuns);
  }).timeout(600_000);

  describe("in an attached image", () => testAttachedLastErrors(numRuns));
}

/** The same for an attached image with this server. */
export function testAttachedLastErrors(numRuns: number, server: ServerName = USUAL_SERVER): void {
  let lisp: RealSwank;
  let other: SwankClient;

  before(async function () {
    // The core may have to be built first.
    this.timeout(600_000);
    lisp = await startRealSwank(undefined, 0, undefined, server);
    other = await connect({ port: lisp.port });
  });

  after(async () => {
    await other.close();
    await lisp.stop();
  });

  it("follow their contract after any sequence of calls", async () => {
    const args = ["--attach", String(lisp.port), "--max-stops", "2"];
    const open = async () => ({ server: await McpStdio.start(args), other });
    const [off, short] = [cutOff(server), cutShort(server)];
    await follow<SharedImage>([...COMMON, off, off, short, short, COLLECTION], open, numRuns);
  }).timeout(600_000);
}

/** The same for the agents of an HTTP server that keeps two stops: one after another, each of which has its own last error. */
export async function followOverHttp(http: HttpServer, numRuns: number): Promise<void> {
  await follow([...COMMON, DEATH, LOSS], async () => ({ server: await McpHttp.start(http.client()) }), numRuns);
}
