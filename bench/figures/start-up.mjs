import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ServerProcess } from "../../scripts/mcp/server-process.mjs";
import { ratio } from "../measure.mjs";

const NODE = { what: "node -e 0", run: () => promisify(execFile)(process.execPath, ["-e", "0"]) };

/** Measures the time from the start of the process to the first answers. */
export async function startUp() {
  // The first use keeps the program's compiled code, and a core.
  await session(evaluate);
  return [
    await ratio(
      "start to initialize",
      { what: "swank-mcp: start, initialize, end", run: () => session(async () => {}) },
      NODE,
    ),
    await ratio(
      "start to the first evaluation",
      { what: "swank-mcp: start, (+ 1 2) on a launched image, end", run: () => session(evaluate) },
      NODE,
    ),
  ];
}

/** @param {(server: ServerProcess) => Promise<void>} work */
async function session(work) {
  const server = new ServerProcess();
  try {
    await server.initialize();
    await work(server);
  } finally {
    await server.stop();
  }
}

/** @param {ServerProcess} server */
async function evaluate(server) {
  const answer = await server.request("tools/call", { name: "evaluate-lisp", arguments: { code: "(+ 1 2)" } });
  if (!JSON.stringify(answer).includes("=> 3")) throw new Error(`Unexpected answer: ${JSON.stringify(answer)}`);
}
