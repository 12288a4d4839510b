import { setTimeout } from "node:timers/promises";
import { connect, type Stop, type SwankClient, type types } from "swank-client";
import { McpDebugger } from "../support/mcp-debugger.js";
import { chosen } from "../support/mcp-user.js";
import { stopped } from "../swank-client/live/outcomes.js";

/** A Lisp with a server. */
export interface ProbedImage {
  readonly port: number;
  stop(): Promise<void>;
}

/** Milliseconds for what a busy machine does in a moment. */
const PATIENCE = 180_000;

/**
 * An image and what is connected to it: either swank-mcp or a client, because a Lisp without threads serves one connection. Each is started when it is first
 * needed, and anew after a failure.
 */
export class Lab {
  /** The questions to the user since the server was started, all of which were answered with a yes. */
  readonly asked: string[] = [];
  readonly #start: () => Promise<ProbedImage>;
  #image: ProbedImage | undefined;
  #server: McpDebugger | undefined;
  #client: SwankClient | undefined;

  constructor(start: () => Promise<ProbedImage>) {
    this.#start = start;
  }

  /** The port of the image. */
  async port(): Promise<number> {
    this.#image ??= await this.#start();
    return this.#image.port;
  }

  /** swank-mcp, attached to the image. */
  async server(): Promise<McpDebugger> {
    const port = await this.port();
    await this.disconnect("server");
    if (this.#server !== undefined) return this.#server;
    this.asked.length = 0;
    const args = ["--attach", String(port), "--no-secret"];
    const answer = async (message: string) => {
      this.asked.push(message);
      return chosen("Yes");
    };
    this.#server = await McpDebugger.start({ args, answer });
    // Loading the runtime must not take the time of the first probe.
    await this.#server.evaluate("1", { timeout: PATIENCE / 1000 });
    return this.#server;
  }

  /** A client of the image. */
  async client(): Promise<SwankClient> {
    const port = await this.port();
    await this.disconnect("client");
    if (this.#client?.isOpen !== true)
      this.#client = await connect({ port, secret: false, timeout: PATIENCE, agentName: "matrix" });
    return this.#client;
  }

  /** Has the client evaluate code that stops. */
  async stopIn(code: string): Promise<{ readonly evaluation: types.Evaluation; readonly stop: Stop }> {
    const client = await this.client();
    const evaluation = client.evaluate(code);
    return { evaluation, stop: stopped(await evaluation.next({ timeout: PATIENCE })).stop };
  }

  /** Ends what a probe has left running or stopped. Whatever does not answer afterwards is ended. */
  async tidy(): Promise<void> {
    const tidied = within(PATIENCE, async () => {
      await this.#server?.abortAll();
      const [answer = "=> 1"] = (await this.#server?.evaluate("1")) ?? [];
      if (answer !== "=> 1") throw new Error(answer);
      await Promise.all(this.#client?.evaluations.map((evaluation) => evaluation.abort()) ?? []);
      // One that was lost may have taken the image with it.
      await this.#client?.eval("1");
    });
    await tidied.catch(() => this.end());
  }

  /** Closes what is connected, except for this. */
  async disconnect(except?: "server" | "client"): Promise<void> {
    if (except !== "server") {
      const server = this.#server;
      this.#server = undefined;
      await server?.close();
    }
    if (except !== "client") {
      const client = this.#client;
      this.#client = undefined;
      await client?.close();
    }
  }

  /** Ends the image, and what is connected to it. */
  async end(): Promise<void> {
    const image = this.#image;
    this.#image = undefined;
    // An image that hangs would make its clients wait.
    await image?.stop();
    await this.disconnect();
  }
}

/** What a function gives. @throws Error if that takes longer than these milliseconds */
export async function within<Value>(milliseconds: number, give: () => Promise<Value>): Promise<Value> {
  const timer = new AbortController();
  const late = setTimeout(milliseconds, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`It took longer than ${milliseconds / 1000} s.`);
  });
  try {
    return await Promise.race([give(), late]);
  } finally {
    late.catch(() => undefined);
    timer.abort();
  }
}
