import * as z from "zod";
import { hangRemedy, isSilence } from "../hung-image.js";
import { DEFAULT_PORT } from "../image-address.js";
import type { LispSession, OwnOrigin } from "../lisp-session.js";
import { defineTool, type ToolContext } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";
import { isUsualPortTaken } from "../usual-port.js";
import { othersStops, ownStops, stopListData } from "./stopped-threads.js";

const SHARING_HINT = `Something else listens on port ${DEFAULT_PORT}, where Swank usually does. If the user wants to share that image, swank-mcp must be started with --attach ${DEFAULT_PORT}.`;
const UNRESPONSIVE =
  "The image does not answer: its process hangs, is suspended, or is very busy. What is told of it was known before.";

export const lispStatus = defineTool({
  name: "lisp-status",
  title: "Lisp status",
  description:
    "Tell which Lisp image this is (implementation, version, process, own or attached), its directory, the current package, the limits, and the stopped threads, those in other clients (Emacs) too.",
  input: z.strictObject({}),
  output: z.looseObject({
    image: z.string().optional(),
    implementation: z.string().optional(),
    version: z.string().optional(),
    pid: z.number().optional(),
    directory: z.string().optional(),
    package: z.string().optional(),
    unresponsive: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(_, context) {
    const session = await context.session();
    const { origin } = session;
    const { info } = session.client;
    const { config } = context;
    const answer = await ask(session, context);
    const isShareable = origin.kind === "own" && origin.shared === undefined && (await isUsualPortTaken());
    return jsonAnswer({
      image: origin.kind,
      ...(origin.kind === "attached" ? { address: origin.address, warning: origin.warning } : sharedData(origin)),
      implementation: info.implementation.type,
      version: info.implementation.version,
      pid: info.pid,
      swank: info.version,
      ...(answer.isSilent
        ? { unresponsive: `${UNRESPONSIVE} ${hangRemedy(session)}` }
        : { directory: answer.directory }),
      package: session.packageName,
      ...stopListData(ownStops(context.stops, session), answer.isSilent ? [] : answer.others, config.maxStops),
      on_error: config.onError,
      limits: {
        timeout: config.timeout,
        max_stops: config.maxStops,
        stop_minutes: config.stopMinutes,
        max_output: config.maxOutput,
        max_value: config.maxValue,
      },
      ...(session.notes.length > 0 ? { notes: [...session.notes] } : {}),
      ...(isShareable ? { hint: SHARING_HINT } : {}),
    });
  },
});

function sharedData({ shared }: OwnOrigin) {
  if (shared === undefined) return {};
  return "address" in shared
    ? { shared: shared.address, shared_secret: shared.secretFile ?? "none is asked for" }
    : { not_shared: shared.problem };
}

/** What only the image knows; the rest is worth telling also when it hangs. */
async function ask(session: LispSession, { signal, stops }: ToolContext) {
  try {
    const directory = await session.directory(signal);
    return { isSilent: false, directory, others: await othersStops(stops, session) } as const;
  } catch (error) {
    if (!isSilence(error)) throw error;
    return { isSilent: true } as const;
  }
}
