import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "swank-client";
import { launchImage, shareImage } from "swank-client/launch";
import { openConnection, tcpOpener } from "swank-client/protocol";
import { runnerOf } from "../../packages/swank-client/dist/runtime/runner.js";
import { BareSocket } from "../bare-socket.mjs";
import { ratio } from "../measure.mjs";

const CODE = "(+ 1 2)";

/** Measures attaching to a running image that no client has used, whose Lisp other images have compiled the runtime for. */
export async function attaching() {
  const cacheDir = await mkdtemp(join(tmpdir(), "swank-bench-"));
  const image = new OtherImage();
  const prepare = () => image.start();
  /** Closes the connection, which is not part of the figure: Swank takes as long to end it as swank-client waits. */
  let finish = async () => {};
  try {
    return [
      await ratio(
        "attached: connect to the first value",
        {
          what: `swank-client: connect, ${CODE}`,
          prepare,
          run: async () => {
            finish = await firstValue(image.port, cacheDir);
          },
          finish: () => finish(),
        },
        { what: "connection-info and the same code over a bare socket", prepare, run: () => firstReply(image.port) },
      ),
    ];
  } finally {
    await image.stop();
    await rm(cacheDir, { recursive: true });
  }
}

/** An image that somebody else has started, and that has loaded Swank as SLIME does. It does not contain the runtime. */
class OtherImage {
  port = 0;
  /** @type {import("swank-client/launch").LaunchedImage | undefined} */
  #image;

  async start() {
    await this.stop();
    this.#image = await launchImage({ runtimeSources: [], useCore: false });
    const { connection } = await openConnection(this.#image.transport);
    const sharing = await runnerOf(connection).run(shareImage, 0, undefined);
    if (sharing.status !== "shared") throw new Error(`The image is not shared: ${sharing.status}`);
    this.port = sharing.port;
  }

  async stop() {
    await this.#image?.stop();
  }
}

/**
 * @param {number} port
 * @param {string} cacheDir
 * @returns {Promise<() => Promise<void>>} closes the connection
 */
async function firstValue(port, cacheDir) {
  const client = await connect({ port, cacheDir, secret: false });
  const outcome = await client.evaluate(CODE).next();
  if (outcome.status !== "returned") throw new Error(`The evaluation was ${outcome.status}.`);
  return () => client.close();
}

/** @param {number} port */
async function firstReply(port) {
  const socket = new BareSocket(await tcpOpener({ port })());
  for (const call of ["(swank:connection-info)", `(swank:eval-and-grab-output "${CODE}")`])
    await socket.roundTrip(`(:emacs-rex ${call} "COMMON-LISP-USER" t 1)`);
  socket.close();
}
