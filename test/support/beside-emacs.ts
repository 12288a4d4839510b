import { once } from "node:events";
import { createServer } from "node:net";
import { Emacs } from "./emacs.js";
import { McpStdio } from "./mcp-stdio.js";
import { startRealSwank } from "./real-swank.js";
import { USUAL_SERVER } from "./usual-server.js";

/** True in the image of a connection that has a REPL. */
const HAS_REPL =
  USUAL_SERVER === "swank"
    ? "(and (some #'swank::mconn.repl-thread swank::*connections*) t)"
    : "(and (some #'slynk::connection-listeners slynk::*connections*) t)";

/** Emacsen that tests use one after another, because starting one takes longer than most tests. */
export class EmacsPool {
  readonly #idle: Emacs[] = [];

  async take(): Promise<Emacs> {
    return this.#idle.pop() ?? Emacs.start();
  }

  /** Takes an Emacs back after a test. */
  async give(emacs: Emacs): Promise<void> {
    if (await emacs.reset()) this.#idle.push(emacs);
    else await emacs.kill();
  }

  /** Kills those that no test uses. */
  async end(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((emacs) => emacs.kill()));
  }
}

/** An image with a user's Emacs, and the servers that attach to it. */
export class BesideEmacs {
  readonly emacs: Emacs;
  readonly port: number;
  readonly #pool: EmacsPool | undefined;
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(emacs: Emacs, port: number, pool?: EmacsPool) {
    this.emacs = emacs;
    this.port = port;
    this.#pool = pool;
    this.#endsWith(emacs);
  }

  /** Starts a Lisp with `M-x slime`, and opens a port in it. */
  static async startedByEmacs(contribs?: readonly string[]): Promise<BesideEmacs> {
    const user = new BesideEmacs(await Emacs.start(contribs), await freePort());
    await user.#orEnd(async () => {
      await user.emacs.startLisp();
      await user.emacs.evaluateInRepl(`(swank:create-server :port ${user.port} :dont-close t)`);
    });
    return user;
  }

  /** Starts a Lisp without Emacs, and an Emacs that is not connected to it. */
  static async startedByHand(pool?: EmacsPool): Promise<BesideEmacs> {
    const lisp = await startRealSwank();
    const emacs = await (pool?.take() ?? Emacs.start()).catch(async (error) => {
      await lisp.stop();
      throw error;
    });
    const user = new BesideEmacs(emacs, lisp.port, pool);
    user.#ends.push(() => lisp.stop());
    return user;
  }

  /** Starts the same, and connects Emacs. */
  static async connected(pool?: EmacsPool): Promise<BesideEmacs> {
    const user = await BesideEmacs.startedByHand(pool);
    await user.#orEnd(() => user.emacs.connect(user.port));
    return user;
  }

  /** Starts another Emacs, without connecting it. */
  async anotherEmacs(): Promise<Emacs> {
    const emacs = await (this.#pool?.take() ?? Emacs.start());
    this.#endsWith(emacs);
    return emacs;
  }

  /** Prepares `fail`. Emacs must be connected. */
  async prepareFailures(): Promise<void> {
    await this.emacs.evaluateInRepl(
      `(progn (defvar *failures* '())
              (sb-thread:make-thread (lambda () (loop (sleep 0.02)
                                                      (let ((message (pop *failures*)))
                                                        (when message (sb-thread:make-thread (lambda () (error "~a" message)))))))
                                     :name "failures")
              nil)`.replace(/\s+/g, " "),
    );
  }

  /** Makes a background thread fail, which is not the agent's; `agent` triggers it. */
  async fail(agent: McpStdio, message: string): Promise<void> {
    await agent.evaluate(`(push "${message}" cl-user::*failures*)`);
  }

  /** Starts a server that is attached to the image. */
  async agent(...args: readonly string[]): Promise<McpStdio> {
    return this.#attach(new McpStdio(["--attach", String(this.port), ...args]));
  }

  /** Starts the same for a client that can ask its user. */
  async askingAgent(...args: readonly string[]): Promise<McpStdio> {
    const capabilities = { elicitation: {} };
    return this.#attach(new McpStdio(["--attach", String(this.port), ...args], { capabilities }));
  }

  /** Disconnects or kills Emacs, and waits until the image has detected it, which another client asks. */
  async emacsLeaves(agent: McpStdio, how: "disconnect" | "kill" = "disconnect"): Promise<void> {
    await this.emacs[how]();
    while ((await agent.evaluate(HAS_REPL))[0] !== "=> NIL");
  }

  /** Ends Emacs, the image and the servers. */
  async end(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
  }

  #endsWith(emacs: Emacs): void {
    this.#ends.push(() => this.#pool?.give(emacs) ?? emacs.kill());
  }

  async #attach(server: McpStdio): Promise<McpStdio> {
    this.#ends.push(async () => {
      server.process.kill("SIGKILL");
      await server.exited;
    });
    await server.initialize();
    return server;
  }

  async #orEnd(prepare: () => Promise<void>): Promise<void> {
    try {
      await prepare();
    } catch (error) {
      await this.end();
      throw error;
    }
  }
}

/** Returns a free port of this machine. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("A port was expected.");
  return address.port;
}
