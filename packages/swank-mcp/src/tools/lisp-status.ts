import { z } from "zod";
import { oneLine } from "../format/cut.js";
import type { Stop } from "../lisp-port.js";
import { defineTool } from "../tool.js";
import { jsonAnswer } from "../tool-answer.js";

const MAX_MESSAGE = 200;

export const lispStatus = defineTool({
  name: "lisp-status",
  title: "Lisp status",
  description:
    "Tell which Lisp image this is (implementation, version, process, own or attached), the current package, the limits, and the stopped threads.",
  input: z.strictObject({}),
  output: z.looseObject({
    image: z.string().optional(),
    implementation: z.string().optional(),
    version: z.string().optional(),
    pid: z.number().optional(),
    package: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(_, context) {
    const { client, origin } = await context.session();
    const { info } = client;
    const { config } = context;
    return jsonAnswer({
      image: origin.kind,
      ...(origin.kind === "attached" ? { address: origin.address } : {}),
      implementation: info.implementation.type,
      version: info.implementation.version,
      pid: info.pid,
      swank: info.version,
      package: info.package.name,
      stopped: context.stops.live.map(stopData),
      on_error: config.onError,
      limits: {
        timeout: config.timeout,
        max_stops: config.maxStops,
        stop_minutes: config.stopMinutes,
        max_output: config.maxOutput,
      },
    });
  },
});

function stopData({ thread, level, condition }: Stop) {
  return {
    thread: `${thread}/${level}`,
    type: condition.type,
    message: oneLine(condition.message, MAX_MESSAGE),
    since: new Date(condition.timestamp).toISOString(),
  };
}
