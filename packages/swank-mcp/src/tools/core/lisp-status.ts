import * as z from "zod";
import { defineTool } from "../../calls/define-tool.js";
import type { ToolContext } from "../../calls/tool-context.js";
import { DEFAULT_PORT } from "../../cli/image-address.js";
import { type Hang, hangOf, isUnanswered, knownHang } from "../../image/hung-image.js";
import type { LispSession, OwnOrigin } from "../../image/lisp-session.js";
import { jsonAnswer } from "../../text/tool-answer.js";
import { recordedCalls, runningData } from "./running-code.js";
import { othersStops, ownStops, stopListData } from "./stopped-threads.js";
import { isUsualPortTaken } from "./usual-port.js";

const SHARING_HINT = `Another program listens on port ${DEFAULT_PORT}, Swank's usual port. If the user wants to share that image, start swank-mcp with --attach ${DEFAULT_PORT}.`;
/** Most characters of the process's own output. */
const MAX_PROCESS_OUTPUT = 2000;
const OUTPUT_ELSEWHERE =
  "not seen here: what other threads, child processes and C code write to the image's own stdout and stderr appears where the user started the image";
const UNRESPONSIVE = "The image does not answer: the other fields were read earlier.";

export const lispStatus = defineTool({
  name: "lisp-status",
  family: "core",
  effect: "reads",
  title: "Lisp status",
  description:
    "Show the Lisp image (implementation, version, process, own or attached), its directory, current package, limits, what agents run now, and stopped threads, including those in other clients (Emacs).",
  input: () => z.strictObject({}),
  output: () =>
    z.looseObject({
      image: z.string().optional(),
      implementation: z.string().optional(),
      version: z.string().optional(),
      pid: z.number().optional(),
      directory: z.string().optional(),
      package: z.string().optional(),
      unresponsive: z.string().optional(),
    }),
  async run(_, context) {
    const session = await context.session({ evenIfHung: true });
    const { origin } = session;
    const { info } = session.client;
    const { config } = context;
    const answer = await ask(session, context);
    const own = ownStops(context.agent, session);
    // Nothing is known about the stops of an image that does not answer.
    const asked = context.agent.userRequests.latest(
      (stop) => answer.isSilent || [...own, ...answer.others].some(({ thread }) => isWithin(stop, thread)),
    );
    const isShareable = origin.kind === "own" && origin.shared === undefined && (await isUsualPortTaken());
    return jsonAnswer({
      image: origin.kind,
      ...(origin.kind === "attached" ? { address: origin.address, warning: origin.warning } : sharedData(origin)),
      implementation: info.implementation.type,
      version: info.implementation.version,
      pid: info.pid,
      swank: info.version,
      ...(answer.isSilent
        ? { unresponsive: `${UNRESPONSIVE} ${answer.message} ${answer.remedy}` }
        : { directory: answer.directory }),
      package: session.packageName,
      ...processOutputData(session),
      ...stopListData(own, answer.isSilent ? [] : answer.others, config.maxStops),
      ...runningData(context.agent, session, answer.isSilent ? [] : answer.recorded),
      ...(config.readOnly ? { read_only: true } : {}),
      ...(asked.length > 0 ? { user_asks: [...asked] } : {}),
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

/** The end of what the image's process wrote to its own stdout and stderr; nothing if it wrote nothing since the session was opened. */
function processOutputData({ processOutput, outputAtStart }: LispSession) {
  if (processOutput === undefined) return { process_output: OUTPUT_ELSEWHERE };
  const { length, tail } = processOutput;
  const characters = length - outputAtStart;
  if (characters === 0) return {};
  return { process_output: { characters, end: tail.slice(-Math.min(characters, MAX_PROCESS_OUTPUT)) } };
}

function sharedData({ shared }: OwnOrigin) {
  if (shared === undefined) return {};
  return "address" in shared
    ? { shared: shared.address, shared_secret: shared.secretFile ?? "none is required" }
    : { not_shared: shared.problem };
}

/** Whether a thread that is stopped at `latest`, thread/level, still is in the stop `earlier`. */
function isWithin(earlier: string, latest: string): boolean {
  const [thread, level] = earlier.split("/");
  const [now, deepest] = latest.split("/");
  return thread === now && Number(level) <= Number(deepest);
}

/** Asks the image for its directory, and for other clients' stops and what agents run. The other fields need no answer of the image. */
async function ask(session: LispSession, { signal, agent }: ToolContext) {
  const known = await knownHang(session);
  if (known !== undefined) return silentStatus(known);
  try {
    const directory = await session.directory(signal);
    const [others, recorded] = await Promise.all([othersStops(agent.stops, session), recordedCalls(session)]);
    return { isSilent: false, directory, others, recorded } as const;
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    const hang = await hangOf(session);
    if (!session.client.isOpen) throw await session.client.closed;
    return silentStatus(hang);
  }
}

function silentStatus({ message, remedy }: Hang) {
  return { isSilent: true, message, remedy } as const;
}
