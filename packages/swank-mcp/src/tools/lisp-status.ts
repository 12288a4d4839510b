import * as z from "zod";
import { oneLine } from "../format/cut.js";
import { DEFAULT_PORT } from "../image-address.js";
import type { Stop } from "../lisp-port.js";
import type { LispSession, OwnOrigin } from "../lisp-session.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";
import { isUsualPortTaken } from "../usual-port.js";

const MAX_MESSAGE = 200;
const SHARING_HINT = `Something else listens on port ${DEFAULT_PORT}, where Swank usually does. If the user wants to share that image, swank-mcp must be started with --attach ${DEFAULT_PORT}.`;
const UNRESPONSIVE =
  "The image does not answer: its process hangs, is suspended, or is very busy. The rest is what was known before.";

export const lispStatus = defineTool({
  name: "lisp-status",
  title: "Lisp status",
  description:
    "Tell which Lisp image this is (implementation, version, process, own or attached), its directory, the current package, the limits, and the stopped threads.",
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
    const isShareable = origin.kind === "own" && origin.shared === undefined && (await isUsualPortTaken());
    return jsonAnswer({
      image: origin.kind,
      ...(origin.kind === "attached" ? { address: origin.address, warning: origin.warning } : sharedData(origin)),
      implementation: info.implementation.type,
      version: info.implementation.version,
      pid: info.pid,
      swank: info.version,
      ...(await askDirectory(session, context.signal)),
      package: session.packageName,
      stopped: context.stops.live.map((stop) => stopData(stop, session)),
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
  return "address" in shared ? { shared: shared.address } : { not_shared: shared.problem };
}

/** What is known without the image is worth telling also when it hangs. */
async function askDirectory(session: LispSession, signal: AbortSignal) {
  try {
    return { directory: await session.directory(signal) };
  } catch (error) {
    if (!isSilence(error)) throw error;
    return { unresponsive: UNRESPONSIVE };
  }
}

function isSilence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "REQUEST_TIMEOUT";
}

function stopData(stop: Stop, { client }: LispSession) {
  const { thread, level, condition } = stop;
  const isForeign = client.stops.some((known) => known === stop && known.evaluation === undefined);
  return {
    thread: `${thread}/${level}`,
    type: condition.type,
    message: oneLine(condition.message, MAX_MESSAGE),
    since: new Date(condition.timestamp).toISOString(),
    // a thread that runs no evaluation of this session
    ...(isForeign ? { foreign: true } : {}),
  };
}
