// Watches the threads of a running image, for example in production: prints threads and stops as they change. It evaluates nothing, and
// receives no errors: they go to the image's other clients, such as Emacs.
// `node examples/watch-threads.mjs [PORT [MILLISECONDS]]` looks at port 4005 once a second by default; Ctrl-C ends it, not the image.
import { setTimeout as pause } from "node:timers/promises";
import { connect, SwankError } from "swank-client";
import { image } from "swank-client/swank";

/** @typedef {import("swank-client").SwankClient} SwankClient */
/** @typedef {import("swank-client").Stop} Stop */
/** @typedef {import("swank-client/swank").ThreadInfo} ThreadInfo */

/** Frames of the program that are shown of a stop. */
const FRAME_COUNT = 5;

/** The threads with an id, which threads lack while they start or end. @param {SwankClient} client */
async function threadsOf(client) {
  const threads = await client.run(image.threads);
  return new Map(threads.flatMap((thread) => (thread.id === undefined ? [] : [[thread.id, thread]])));
}

/** @param {Map<number, ThreadInfo>} before @param {Map<number, ThreadInfo>} now */
function printThreads(before, now) {
  for (const [id, { name }] of before) if (!now.has(id)) console.log(`- thread ${id} "${name}" has ended`);
  for (const [id, { name, status }] of now) {
    const known = before.get(id);
    if (known === undefined) console.log(`+ thread ${id} "${name}": ${status}`);
    else if (known.status !== status) console.log(`  thread ${id} "${name}": ${status}`);
  }
}

/** Prints a stop with its restarts and the innermost frames of the program. @param {Stop} stop */
function printStop({ condition, owner, thread, level, data }) {
  console.log(`! thread ${thread} "${data.threadName}" has stopped in ${owner?.text}, at level ${level}`);
  console.log(`    ${condition.type}: ${condition.message.replaceAll("\n", "\n    ")}`);
  for (const { name, description } of condition.restarts) console.log(`    restart ${name}: ${description}`);
  const frames = condition.frames.filter(({ kind }) => kind === "user").slice(0, FRAME_COUNT);
  for (const { index, call } of frames) console.log(`    frame ${index}: ${call}`);
}

/** Prints a new stop; without frames if its thread has resumed, or does not answer. @param {Stop} stop */
async function printNewStop(stop) {
  printStop(await stop.open().catch(() => stop));
}

/** Looks again and again until the user or the connection ends it. @param {SwankClient} client @param {number} interval @param {AbortSignal} signal */
async function watch(client, interval, signal) {
  /** @type {Map<number, ThreadInfo>} */
  let threads = new Map();
  /** @type {readonly Stop[]} */
  let stops = [];
  while (!signal.aborted) {
    const threadsNow = await threadsOf(client);
    const stopsNow = await client.foreignStops();
    // A stop is the same object every time.
    for (const stop of stops) if (!stopsNow.includes(stop)) printResumed(stop);
    printThreads(threads, threadsNow);
    for (const stop of stopsNow) if (!stops.includes(stop)) await printNewStop(stop);
    threads = threadsNow;
    stops = stopsNow;
    await pause(interval, undefined, { signal }).catch(() => undefined);
  }
}

/** @param {Stop} stop */
function printResumed({ thread, level, data }) {
  console.log(`  thread ${thread} "${data.threadName}" has left the debugger at level ${level}`);
}

const [port = "4005", interval = "1000"] = process.argv.slice(2);
const client = await connect({ port: Number(port), foreignErrors: "theirs" });
const ending = new AbortController();
process.once("SIGINT", () => ending.abort());
try {
  console.log(`${client.info.implementation.type} ${client.info.implementation.version}, process ${client.info.pid}`);
  await watch(client, Number(interval), ending.signal);
} catch (error) {
  if (!(error instanceof SwankError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await client.close();
}
