import { EVERY_CALL } from "../support/every-call.js";
import { answerText } from "./contract-probes.js";
import { expectMatch, type Probes } from "./probe.js";

/** What the answer has in any Lisp, where `EVERY_CALL` expects what it is in SBCL. */
const ANYWHERE: Readonly<Record<string, RegExp>> = {
  "lisp-status": /"implementation":"/,
  "list-threads": /thread/,
  "macroexpand-form": /^\(if 1\s/i,
};

/** Every tool, in calls that follow each other. */
export const TOOL_PROBES: Probes = EVERY_CALL.map(([name, args, expected]) => [
  name,
  async (lab) => {
    const server = await lab.server();
    expectMatch(answerText(await server.call(name, args)), ANYWHERE[name] ?? expected);
    return undefined;
  },
]);
