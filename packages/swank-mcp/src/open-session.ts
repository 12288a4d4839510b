import type { Config } from "./config.js";
import type { OpenSession } from "./lisp-session.js";
import type { Log } from "./log.js";
import { Sharing } from "./sharing.js";

/** How this configuration gets to Lisp. What it takes is loaded when it is first needed, so that starting up does not wait for it. */
export function openSession(config: Config, log: Log): OpenSession {
  const sharing = config.share === undefined ? undefined : new Sharing(config.share, config, log);
  return async (signal) => {
    const session =
      config.attach === undefined
        ? await (await import("./own-image.js")).openOwnImage(config, { log, sharing }, signal)
        : await (await import("./attached-image.js")).openAttachedImage(config.attach, config, signal);
    const { info, closed } = session.client;
    log(`connected to the image with pid ${info.pid}`);
    void closed.then((reason) => log(`the connection to the image with pid ${info.pid} is over: ${reason.message}`));
    for (const remark of session.remarks) log(remark);
    return session;
  };
}
