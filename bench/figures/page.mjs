import { readFile } from "node:fs/promises";
import { announce, ratio, settings } from "../measure.mjs";
import { ServerProcess } from "../server-process.mjs";

/** @typedef {import("../measure.mjs").Figure} Figure */

const CALLS = 50;
const ROUNDS = 21;
/** Rounds whose processor time is measured together, because Linux counts hundredths of a second. */
const CPU_ROUNDS = 40;
const CODE = "(+ 1 2)";

/** Measures what a page costs the calls of an agent: while nobody watches it, and while somebody does. */
export async function page() {
  const [without, unwatched, watched] = [[], ["--page"], ["--page"]].map((args) => new ServerProcess(args));
  if (!without || !unwatched || !watched) return [];
  const ending = new AbortController();
  try {
    await Promise.all([without, unwatched, watched].map((server) => server.initialize()));
    for (const server of [without, unwatched, watched]) await evaluate(server, 4);
    await watch(watched, ending.signal);
    await evaluate(watched, 4);
    const baseline = { what: "without a page", run: () => evaluate(without) };
    const calls = `${CALLS} calls of evaluate-lisp`;
    return [
      await ratio(
        "page, unwatched",
        { what: `${calls} beside a page`, run: () => evaluate(unwatched) },
        baseline,
        ROUNDS,
      ),
      await ratio(
        "page, watched",
        { what: `${calls} while one watches`, run: () => evaluate(watched) },
        baseline,
        ROUNDS,
      ),
      ...(await processorTimes([unwatched, watched], without)),
    ];
  } finally {
    ending.abort();
    await Promise.all([without, unwatched, watched].map((server) => server.stop()));
  }
}

/**
 * @param {ServerProcess} server
 * @param {number} [rounds]
 */
async function evaluate(server, rounds = 1) {
  for (let call = 0; call < rounds * CALLS; call++)
    await server.request("tools/call", { name: "evaluate-lisp", arguments: { code: CODE } });
}

/**
 * Reads the events of a server's page, as a browser does that shows it.
 *
 * @param {ServerProcess} server
 * @param {AbortSignal} signal
 */
async function watch(server, signal) {
  const status = JSON.stringify(await server.request("tools/call", { name: "lisp-status", arguments: {} }));
  const file = /token in (\/[^"\\]+\.url)/.exec(status)?.[1] ?? "";
  const opened = await fetch((await readFile(file, "utf8")).trim(), { redirect: "manual" });
  const cookie = opened.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const events = new URL("events", opened.headers.get("location") ?? "");
  const { body, status: code } = await fetch(events, { headers: { cookie }, signal });
  if (body === null || code !== 200) throw new Error(`The page answers ${code}.`);
  void body.pipeTo(new WritableStream()).catch(() => undefined);
}

/**
 * Compares the processor time of the servers, without that of their images, where the system tells it.
 *
 * @param {readonly [unwatched: ServerProcess, watched: ServerProcess]} servers
 * @param {ServerProcess} baseline
 * @returns {Promise<Figure[]>}
 */
async function processorTimes(servers, baseline) {
  announce("  page, processor time");
  const all = [...servers, baseline];
  const before = await Promise.all(all.map(ticks));
  if (before.some((time) => time === undefined)) return [];
  const rounds = settings.isQuick ? CPU_ROUNDS / 2 : CPU_ROUNDS;
  for (let round = 0; round < rounds; round++) for (const server of all) await evaluate(server);
  const after = await Promise.all(all.map(ticks));
  const [unwatched = 0, watched = 0, without = 0] = all.map(
    (_, index) => (10 * ((after[index] ?? 0) - (before[index] ?? 0))) / (rounds * CALLS),
  );
  const against = `without a page (${without.toPrecision(3)} ms a call)`;
  /** @type {(name: string, time: number) => Figure} */
  const figure = (name, time) => ({
    name,
    value: time / without,
    unit: "ratio",
    of: `processor time of the server (${time.toPrecision(3)} ms a call)`,
    against,
  });
  return [figure("page, unwatched: processor", unwatched), figure("page, watched: processor", watched)];
}

/**
 * The processor time of a process in hundredths of a second; `undefined` without Linux's `/proc`.
 *
 * @param {ServerProcess} server
 */
async function ticks({ pid }) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields === undefined ? undefined : Number(fields[11]) + Number(fields[12]);
}
