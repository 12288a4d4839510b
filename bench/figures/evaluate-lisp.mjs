import { launchImage } from "swank-client/launch";
import { inRepository } from "../../scripts/setup/paths.mjs";
import { evaluateForm } from "../bare-evaluate.mjs";
import { BareSocket } from "../bare-socket.mjs";
import { coldAndWarm } from "../measure.mjs";
import { ServerProcess } from "../server-process.mjs";

const CALLS = 50;
const ROUNDS = 31;
const WARM_UP = 80;
const CODE = "(+ 1 2)";

/** Measures a tool call against the costs of the SDK and the image alone. */
export async function evaluateLisp() {
  const image = await launchImage();
  const socket = new BareSocket(await image.transport());
  const server = new ServerProcess();
  const echo = new ServerProcess([], inRepository("bench/echo-server.mjs"));
  try {
    await Promise.all([server.initialize(), echo.initialize()]);
    return await coldAndWarm(
      "evaluate-lisp",
      { what: `${CALLS} calls of evaluate-lisp with ${CODE}`, run: () => toolCalls(server, "evaluate-lisp") },
      { what: "an SDK echo tool and the runtime's evaluate over a bare socket", run: () => separately(echo, socket) },
      ROUNDS,
      WARM_UP,
    );
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
  await toolCalls(echo, "echo");
  for (let id = 1; id <= CALLS; id++) await socket.roundTrip(socket.message(evaluateForm(CODE, id)));
}
