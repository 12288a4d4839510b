import { launchImage } from "swank-client/launch";
import { evaluate } from "../../packages/swank-client/dist/calls/evaluate.js";
import { formOf } from "../../packages/swank-client/dist/lisp/lisp-runner.js";
import { runtimeModule } from "../../packages/swank-client/dist/lisp/runtime-source.js";
import { ServerProcess } from "../../scripts/mcp/server-process.mjs";
import { inRepository } from "../../scripts/setup/paths.mjs";
import { BareSocket } from "../bare-socket.mjs";
import { ratio } from "../measure.mjs";

const CALLS = 50;
const CODE = "(+ 1 2)";
const CALL = { code: CODE, package: undefined, stdin: undefined, check: false, unwind: false, debug: true };
const LIMITS = { limit: 100_000, tail: 4000, valueLimit: undefined };

/** Measures a tool call against the costs of the SDK and the image alone. */
export async function evaluateLisp() {
  const image = await launchImage();
  const socket = new BareSocket(await image.transport());
  const server = new ServerProcess();
  const echo = new ServerProcess([], inRepository("bench/echo-server.mjs"));
  try {
    await Promise.all([server.initialize(), echo.initialize()]);
    return [
      await ratio(
        "evaluate-lisp",
        { what: `${CALLS} calls of evaluate-lisp with ${CODE}`, run: () => toolCalls(server, "evaluate-lisp") },
        { what: "an SDK echo tool and the runtime's evaluate over a bare socket", run: () => separately(echo, socket) },
      ),
    ];
  } finally {
    await Promise.all([server.stop(), echo.stop()]);
    socket.close();
    await image.stop();
  }
}

/**
 * @param {ServerProcess} server
 * @param {string} name
 */
async function toolCalls(server, name) {
  for (let call = 0; call < CALLS; call++) await server.request("tools/call", { name, arguments: { code: CODE } });
}

/**
 * @param {ServerProcess} echo
 * @param {BareSocket} socket
 */
async function separately(echo, socket) {
  const { packageName } = runtimeModule("evaluate");
  await toolCalls(echo, "echo");
  for (let id = 1; id <= CALLS; id++)
    await socket.roundTrip(socket.message(formOf(evaluate, [{ ...CALL, ...LIMITS, id }], packageName)));
}
