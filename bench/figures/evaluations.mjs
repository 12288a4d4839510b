import { symbol } from "sexp-parser";
import { EVALUATE, evaluateForm, withBoth } from "../bare-evaluate.mjs";
import { coldAndWarm, ratio } from "../measure.mjs";

const IN_FLIGHT = 1000;
const ERRORS = 20;
const WARM_UP = 60;
const CODE = "(+ 1 2)";
const FAILING = "(+ 1 (car 7))";

/** @typedef {import("swank-client").SwankClient} SwankClient */
/** @typedef {import("../bare-socket.mjs").BareSocket} BareSocket */

/** Measures evaluations of swank-client against the requests that they consist of, over a bare socket. */
export function evaluations() {
  return withBoth(async (client, socket) => [
    await ratio(
      `${IN_FLIGHT} evaluations in flight`,
      { what: `${IN_FLIGHT} evaluations of ${CODE} at once`, run: () => evaluateAtOnce(client) },
      { what: "the same requests over a bare socket", run: () => requestAtOnce(socket) },
    ),
    ...(await coldAndWarm(
      "error to report",
      { what: `${ERRORS} errors, each reported and aborted`, run: () => fail(client) },
      { what: "the same requests over a bare socket", run: () => failBare(socket) },
      31,
      WARM_UP,
    )),
  ]);
}

/** @param {SwankClient} client */
async function evaluateAtOnce(client) {
  const running = Array.from({ length: IN_FLIGHT }, () => client.evaluate(CODE));
  const outcomes = await Promise.all(running.map((evaluation) => evaluation.next()));
  const wrong = outcomes.find(({ status }) => status !== "returned");
  if (wrong !== undefined) throw new Error(`An evaluation ended as ${wrong.status}.`);
}

/** @param {BareSocket} socket */
async function requestAtOnce(socket) {
  await socket.roundTrips(
    Array.from({ length: IN_FLIGHT }, (_, index) => socket.message(evaluateForm(CODE, index + 1))),
  );
}

/** @param {SwankClient} client */
async function fail(client) {
  for (let error = 0; error < ERRORS; error++) {
    const evaluation = client.evaluate(FAILING);
    const outcome = await evaluation.next();
    if (outcome.status !== "stopped") throw new Error(`The evaluation ended as ${outcome.status}.`);
    await outcome.stop.abort();
    await evaluation.next();
  }
}

/** @param {BareSocket} socket */
async function failBare(socket) {
  for (let error = 1; error <= ERRORS; error++) {
    const thread = await socket.stopOf(socket.message(evaluateForm(FAILING, error)));
    await socket.roundTrip(socket.message([symbol(`${EVALUATE}:stop`)], thread));
    await socket.ending(socket.message([symbol(`${EVALUATE}:abort-stop`)], thread));
  }
}
