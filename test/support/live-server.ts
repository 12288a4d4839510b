import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode } from "sexp-parser";
import { connect, lispFunction } from "swank-client";
import { HttpServer } from "./http-server.js";
import { type Answerer, McpDebugger } from "./mcp-debugger.js";
import { McpStdio } from "./mcp-stdio.js";
import { type RealSwank, startRealSwank } from "./real-swank.js";
import { forUsualServer } from "./usual-server.js";

export interface LiveOptions {
  /** The server's options. A function of them is called when the server starts. */
  readonly args?: readonly string[] | (() => readonly string[]);
  readonly environment?: Readonly<Record<string, string>>;
  /** Code that is evaluated first, in one evaluation each. */
  readonly code?: string | readonly string[];
  /** Whether each test has a fresh image, and a server of its own if that is attached. Default: the suite has one server and image. */
  readonly each?: boolean;
}

/**
 * Gives the suite that calls it a folder, whose name has a space. It is empty before the suite, or before each test.
 *
 * @returns The folder's path, which exists while a test runs.
 */
export function liveFolder(name: string, { each = false }: Pick<LiveOptions, "each"> = {}): string {
  const folder = join(realpathSync(tmpdir()), `${name} ${randomUUID()}`);
  (each ? beforeEach : before)(async () => void (await mkdir(folder)));
  (each ? afterEach : after)(() => rm(folder, { recursive: true }));
  return folder;
}

/** Gives the suite that calls it a server, which is there while a test runs. */
export function liveServer(options: LiveOptions = {}): McpStdio {
  const isReset = options.each === true && typeof options.args !== "function";
  let kept: McpStdio | undefined;
  after(() => kept?.close());
  return livePart({
    each: options.each,
    start: async () => {
      // A reset gives a server a fresh image of its own, in less time than a new server takes.
      if (kept?.process.exitCode === null) await kept.call("reset-session");
      else kept = await McpStdio.start(argsOf(options), options.environment);
      return prepared(kept, options);
    },
    end: async (server) => {
      if (isReset) return;
      kept = undefined;
      await server.close();
    },
  });
}

/** Gives the suite that calls it an HTTP server, which is there while a test runs. */
export function liveHttp(options: Pick<LiveOptions, "args" | "each"> = {}): HttpServer {
  return livePart({
    each: options.each,
    start: () => HttpServer.start(argsOf(options)),
    end: (server) => server.close(),
  });
}

export interface LiveDebuggerOptions extends Omit<LiveOptions, "environment"> {
  /** Absent for a client that cannot ask its user. */
  readonly answer?: Answerer;
}

/** The same with the SDK's client. After each test, breakpoints are removed and stops aborted if the suite has one server. */
export function liveDebugger({ answer, ...options }: LiveDebuggerOptions = {}): McpDebugger {
  const asking = answer === undefined ? {} : { answer };
  if (options.each !== true)
    afterEach(async () => {
      await lisp.removeBreakpoints();
      await lisp.abortAll();
    });
  const lisp = livePart({
    each: options.each,
    start: async () => prepared(await McpDebugger.start({ args: argsOf(options), ...asking }), options),
    end: (server) => server.close(),
  });
  return lisp;
}

/** Gives the suite that calls it an image with a Swank server, to which servers attach. */
export function liveSwank({ each }: Pick<LiveOptions, "each"> = {}): RealSwank {
  return livePart({ each, start: () => startRealSwank(), end: (image) => image.stop() });
}

/** Options of a server that attaches to the image. */
export function attachedTo(image: RealSwank, ...args: readonly string[]): () => readonly string[] {
  return () => ["--attach", String(image.port), ...args];
}

/** Evaluates as another client's editor does, without the runtime. */
const typed = lispFunction({
  name: "swank:eval-and-grab-output",
  encode: (form: string) => [form],
  decode: decode.any,
});

/** Gives each test of the suite that calls it another client of the image, which evaluates as an editor does. */
export function liveEditor(image: RealSwank) {
  return livePart({
    each: true,
    start: async () => {
      const client = await connect({ port: image.port });
      return { client, type: (form: string) => client.run(typed, forUsualServer(form)) };
    },
    end: ({ client }) => client.close(),
  });
}

function argsOf({ args = [] }: LiveOptions): readonly string[] {
  return typeof args === "function" ? args() : args;
}

async function prepared<T extends Pick<McpStdio, "evaluate">>(server: T, { code = [] }: LiveOptions): Promise<T> {
  for (const each of typeof code === "string" ? [code] : code) await server.evaluate(each);
  return server;
}

interface Part<T> {
  readonly each: boolean | undefined;
  readonly start: () => Promise<T>;
  readonly end: (part: T) => Promise<unknown>;
}

/** Returns an object that stands for the one that the hooks of the suite have made. */
function livePart<T extends object>(part: Part<T>): T;
function livePart({ each, start, end }: Part<object>): object {
  let current: object | undefined;
  (each ? beforeEach : before)(async function () {
    // The core may have to be built first.
    this.timeout(600_000);
    current = await start();
  });
  (each ? afterEach : after)(async () => {
    const ended = current;
    current = undefined;
    if (ended !== undefined) await end(ended);
  });
  return new Proxy(
    {},
    {
      get(_, key) {
        if (current === undefined) throw new Error("It is there while a test runs.");
        const value: unknown = Reflect.get(current, key);
        return typeof value === "function" ? value.bind(current) : value;
      },
      set: (_, key, value) => current !== undefined && Reflect.set(current, key, value),
    },
  );
}
