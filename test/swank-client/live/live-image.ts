import { setTimeout as pause } from "node:timers/promises";
import { decode, read } from "sexp-parser";
import { type ConnectOptions, connect, type Outcome, type Stop, type SwankClient, type types } from "swank-client";
import { backtraces } from "../../support/backtraces.js";
import { type RealSwank, startRealSwank } from "../../support/real-swank.js";
import { forUsualServer } from "../../support/usual-server.js";
import { evaluate, stopped, values } from "./outcomes.js";

/** An image for the tests of one suite. */
export class LiveImage {
  readonly #clients: SwankClient[] = [];
  #swank: RealSwank | undefined;
  #observer: SwankClient | undefined;
  #client: SwankClient | undefined;

  get swank(): RealSwank {
    if (this.#swank === undefined) throw new Error("The image is there while a test runs.");
    return this.#swank;
  }

  /** The client of the test, in a suite with `liveClient`. */
  get client(): SwankClient {
    if (this.#client === undefined) throw new Error("The suite has no client for each test.");
    return this.#client;
  }

  /** What the code of the test's client gives in the end, and its first outcome. */
  values(code: string, options?: types.EvaluateOptions): Promise<readonly string[]> {
    return values(this.client, forUsualServer(code), options);
  }

  evaluate(code: string, options?: types.EvaluateOptions): Promise<Outcome> {
    return evaluate(this.client, code, options);
  }

  /** Has the test's client evaluate code that stops. */
  async stopIn(code: string, options?: types.EvaluateOptions): Promise<{ evaluation: types.Evaluation; stop: Stop }> {
    const evaluation = this.client.evaluate(code, options);
    return { evaluation, stop: stopped(await evaluation.next()).stop };
  }

  /** Runs functions of Lisp for the test's client. */
  get run(): SwankClient["run"] {
    return this.client.run.bind(this.client);
  }

  async connectClient(): Promise<void> {
    this.#client = await this.connect();
  }

  /** Another client, closed after the test. */
  async connect(options: Omit<ConnectOptions, "port"> = {}): Promise<SwankClient> {
    const client = await connect({ ...options, port: this.swank.port });
    this.#clients.push(client);
    return client;
  }

  /** What a form gives, evaluated beside everything else by a client that loads nothing: strings, numbers and lists of them. */
  async ask(form: string): Promise<string> {
    this.#observer ??= await connect({ port: this.swank.port, runtime: false, foreignErrors: "theirs" });
    const printed = `(cl:with-standard-io-syntax (cl:prin1-to-string (cl:locally ${form})))`;
    return decode.string(await this.#observer.request(read(printed), { label: form }));
  }

  async start(): Promise<void> {
    this.#swank = await startRealSwank();
  }

  async stop(): Promise<void> {
    await this.closeClients();
    await this.#observer?.close();
    this.#observer = undefined;
    await this.#swank?.stop();
  }

  async closeClients(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
  }

  /** Waits until nothing that clients of ours did is left. If something stays, fails with what the image's threads do. */
  async untilTidy(): Promise<void> {
    if (this.swank.process.exitCode !== null || this.swank.process.signalCode !== null) return;
    let left = "The image does not answer.";
    const timer = new AbortController();
    const overdue = pause(TIDY_TIME, true, { signal: timer.signal }).catch(() => false);
    const tidy = async () => {
      while (!timer.signal.aborted) {
        left = await this.ask(LEFTOVERS);
        if (left === "NIL") return false;
        await pause(20);
      }
      return false;
    };
    const isOverdue = await Promise.race([tidy(), overdue]).finally(() => timer.abort());
    if (isOverdue) throw new Error(`${await backtraces(this.swank)}\nSomething is left behind: ${left}`);
  }
}

/** Milliseconds within which an image must be tidy. */
const TIDY_TIME = 40_000;

/** Swank's workers, other than the one that asks, and evaluations that any version of the runtime knows of. */
const LEFTOVERS = `
  (cl:append
    (cl:remove-if-not (cl:lambda (name) (cl:member name '("worker" "swank-client clean-up") :test 'cl:equal))
      (cl:mapcar 'sb-thread:thread-name (cl:remove sb-thread:*current-thread* (sb-thread:list-all-threads))))
    (cl:loop :for package :in (cl:list-all-packages)
             :for table := (cl:and (cl:eql 0 (cl:search "SWANK-CLIENT/" (cl:package-name package)))
                                   (cl:find-symbol "*SESSIONS*" package))
             :when (cl:and table (cl:boundp table) (cl:eq package (cl:symbol-package table)))
               :append (cl:loop :for session :being :the :hash-values :of (cl:symbol-value table)
                                :append (cl:loop :for id :being :the :hash-keys
                                                 :of (cl:funcall (cl:intern "SESSION-EVALUATIONS" package) session)
                                                 :collect id))))`;

/**
 * Gives the suite that calls it an image of its own, and checks after every test that nothing is left behind in it.
 */
export function liveImage(): LiveImage {
  const image = new LiveImage();
  before(() => image.start());
  afterEach(async () => {
    await image.closeClients();
    await image.untilTidy();
  });
  after(() => image.stop());
  return image;
}

/** The same, and gives each test a client of the image: `image.client`. */
export function liveClient(): LiveImage {
  const image = liveImage();
  beforeEach(() => image.connectClient());
  return image;
}

/** Gives each test of the suite an image of its own, which it may end. */
export function freshImage(): LiveImage {
  const image = new LiveImage();
  beforeEach(() => image.start());
  afterEach(() => image.stop());
  return image;
}
