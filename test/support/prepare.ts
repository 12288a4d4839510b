// Builds the files that parallel tests with Lisps share, so that no test writes a file while another reads it.
import { launchImage } from "swank-client/launch";
import { Emacs } from "./emacs.js";
import { McpStdio } from "./mcp-stdio.js";
import { startOtherLisp } from "./other-lisps.js";
import { plainCore } from "./plain-core.js";
import { swankCore } from "./real-swank.js";
import { LAUNCH_CACHE } from "./test-cache.js";

/** Builds the server's core at once. The server itself builds it in the background, and stops that when it ends. */
async function serverCore(): Promise<void> {
  await (await launchImage({ cacheDir: LAUNCH_CACHE })).stop();
}

/** Starts the server once from its core, so that its own compiled code is there. */
async function serverCode(): Promise<void> {
  await serverCore();
  const server = await McpStdio.start();
  await server.evaluate("1");
  await server.end();
}

/** A Lisp started by Emacs loads the Swank that was compiled for that core, and compiles what only Emacs asks for. */
async function swankOfEmacs(): Promise<void> {
  await swankCore();
  const emacs = await Emacs.start();
  await emacs.startLisp();
  await emacs.kill();
}

/** ECL compiles Swank when it first starts. */
async function swankOfEcl(): Promise<void> {
  await (await startOtherLisp("ecl")).stop();
}

const needsOthers = process.argv.includes("emacs");
await Promise.all([serverCode(), plainCore(), ...(needsOthers ? [swankOfEmacs(), swankOfEcl()] : [swankCore()])]);
