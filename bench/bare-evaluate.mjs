import { connect } from "swank-client";
import { launchImage } from "swank-client/launch";
import { evaluate } from "../packages/swank-client/dist/evaluation/evaluate.js";
import { formOf } from "../packages/swank-client/dist/runtime/runner.js";
import { runtimeModule } from "../packages/swank-client/dist/runtime/runtime.js";
import { BareSocket } from "./bare-socket.mjs";

const LIMITS = { limit: 100_000, tail: 4000, valueLimit: undefined };
const OPTIONS = { package: undefined, stdin: undefined, check: false, unwind: false, debug: true };

/** Name of the package of the runtime's functions that evaluate. */
export const { packageName: EVALUATE } = runtimeModule("evaluate");

/**
 * The form by which swank-client evaluates code with its default options.
 *
 * @param {string} code
 * @param {number} id of the evaluation
 */
export function evaluateForm(code, id) {
  return formOf(evaluate, [{ ...OPTIONS, ...LIMITS, code, id }], EVALUATE);
}

/**
 * Runs work with a client and a bare socket, on two images of the same core.
 *
 * @template Result
 * @param {(client: import("swank-client").SwankClient, socket: BareSocket) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function withBoth(work) {
  const [image, bareImage] = [await launchImage(), await launchImage()];
  const client = await connect({ transport: image.transport });
  const socket = new BareSocket(await bareImage.transport());
  try {
    return await work(client, socket);
  } finally {
    await client.close();
    socket.close();
    await Promise.all([image.stop(), bareImage.stop()]);
  }
}
