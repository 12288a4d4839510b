import type { Config } from "../cli/config.js";
import type { Log } from "../process/log.js";
import { AgentName } from "./agent-name.js";
import type { OpenSession } from "./lisp-session.js";
import { Sharing } from "./sharing.js";

/** The way to open a session in this configuration. Its modules are loaded only when first needed, to keep startup fast. */
export function openSession(config: Config, log: Log, agentName = new AgentName()): OpenSession {
  const sharing = config.share === undefined ? undefined : new Sharing(config.share, config, log);
  return async (signal, onDelay, onFile) => {
    const session =
      config.attach === undefined
        ? await (await import("./own-image.js")).openOwnImage(
            config,
            { log, sharing, onDelay, onFile, agentName },
            signal,
          )
        : await (await import("./attached-image.js")).openAttachedImage(config.attach, config, agentName.text, signal);
    const { info, closed } = session.client;
    log(`connected to the image with pid ${info.pid}`);
    void closed.then(async (reason) => {
      const isLost = reason.code !== "CONNECTION_CLOSED";
      const why = isLost ? `was lost: ${await session.explainLoss()}` : `ended: ${reason.message}`;
      log(`the connection to the image with pid ${info.pid} ${why}`);
    });
    for (const remark of session.remarks) log(remark);
    return session;
  };
}
