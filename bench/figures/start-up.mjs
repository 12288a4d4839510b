import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ratio } from "../measure.mjs";
import { ServerProcess } from "../server-process.mjs";

const ROUNDS = 21;
const NODE = { what: "node -e 0", run: () => promisify(execFile)(process.execPath, ["-e", "0"]) };

/** Measures the time from the start of the process to the first answers. How long the server takes to end is not part of it. */
export async function startUp() {
  // The first use keeps the program's compiled code, and a core.
  const first = started("", evaluate);
  await first.run();
  await first.finish();
  return [
    await ratio("start to initialize", started("swank-mcp: start, initialize"), NODE, ROUNDS),
    await ratio(
      "start to the first evaluation",
      started("swank-mcp: start, (+ 1 2) on a launched image", evaluate),
      NODE,
      ROUNDS,
    ),
  ];
}

/**
 * @param {string} what
 * @param {(server: ServerProcess) => Promise<void>} work after `initialize`
 */
function started(what, work = async () => {}) {
  /** @type {ServerProcess | undefined} */
  let server;
  return {
    what,
    async run() {
      server = new ServerProcess();
      await server.initialize();
      await work(server);
    },
    async finish() {
      await server?.stop();
    },
  };
}

/** @param {ServerProcess} server */
async function evaluate(server) {
  const answer = await server.request("tools/call", { name: "evaluate-lisp", arguments: { code: "(+ 1 2)" } });
  if (!JSON.stringify(answer).includes("=> 3")) throw new Error(`Unexpected answer: ${JSON.stringify(answer)}`);
}
