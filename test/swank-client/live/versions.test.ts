import { appendFile, cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "chai";
import type { connect, SwankClient } from "swank-client";
import { killedClient } from "./killed-client.js";
import { type LiveImage, liveClient, liveImage } from "./live-image.js";
import { stopped, values } from "./outcomes.js";

/** A path in the repository. */
const inRepository = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** The versions whose packages the image has. */
const VERSIONS = `(cl:length (cl:remove-duplicates
  (cl:loop :for package :in (cl:list-all-packages)
           :for name := (cl:package-name package)
           :when (cl:search "SWANK-CLIENT/" name) :collect (cl:subseq name (cl:1+ (cl:position #\\/ name :from-end cl:t))))
  :test 'cl:string=))`;

/** What Lisp's own class of structures and PRINT-OBJECT keep of all versions. */
const KEPT = `(cl:list (cl:length (sb-mop:class-direct-subclasses (cl:find-class 'cl:structure-object)))
  (cl:length (sb-mop:generic-function-methods #'cl:print-object)))`;

const HOOKS = "(cl:list (cl:length swank::*connection-closed-hook*) (cl:length sb-ext:*exit-hooks*))";

/** Other versions of the library. Their compiled runtime is kept, because compiling it takes seconds. */
class Copies {
  readonly #folder: string;
  readonly #clients: SwankClient[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<Copies> {
    const folder = await mkdtemp(join(tmpdir(), "versions-"));
    await symlink(inRepository("node_modules"), join(folder, "node_modules"));
    await mkdir(join(folder, "cache"), { mode: 0o700 });
    return new Copies(folder);
  }

  /** Another version: its Lisp has one more line. => what to import */
  async library(number: number): Promise<string> {
    const copy = join(this.#folder, String(number));
    if ((await mkdir(copy, { recursive: true })) !== undefined) {
      for (const part of ["dist", "lisp", "package.json"])
        await cp(inRepository(`packages/swank-client/${part}`), join(copy, part), { recursive: true });
      await appendFile(join(copy, "lisp/connection/guard.lisp"), `\n(defparameter *copy* ${number})\n`);
    }
    return pathToFileURL(join(copy, "dist/index.js")).href;
  }

  /** Options for a client of an image. */
  options(image: LiveImage) {
    return { port: image.swank.port, cacheDir: join(this.#folder, "cache"), timeout: 60_000 };
  }

  async client(image: LiveImage, number: number): Promise<SwankClient> {
    const library: { readonly connect: typeof connect } = await import(await this.library(number));
    const client = await library.connect(this.options(image));
    this.#clients.push(client);
    return client;
  }

  async closeClients(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true });
  }
}

describe("Versions of the runtime", function () {
  // compiles two versions
  this.timeout(240_000);
  const image = liveImage();
  let copies: Copies;

  before(async () => {
    copies = await Copies.create();
  });
  afterEach(() => copies.closeClients());
  after(() => copies.remove());

  /** The number of versions besides that of the client that asks. */
  async function count(): Promise<number> {
    return Number(await image.ask(VERSIONS)) - 1;
  }

  it("that nobody uses are deleted when another one has come: several in turn leave one", async () => {
    let kept: string | undefined;
    for (const number of [0, 1, 0]) {
      const client = await copies.client(image, number);
      expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
      while ((await count()) !== 1) await pause(20);
      kept ??= await image.ask(KEPT);
      expect(await image.ask(KEPT)).to.equal(kept);
      await client.close();
    }
    expect(await count()).to.equal(1);
  });

  it("are kept while a client uses them, with its stops, and deleted when it leaves", async () => {
    const first = await copies.client(image, 0);
    const { stop } = stopped(await first.evaluate('(error "stopped in the older version")').next());
    const second = await copies.client(image, 1);
    expect(await values(second, "(+ 1 2)")).to.deep.equal(["3"]);
    // The image deletes other versions a moment after a client has come.
    await pause(1500);
    expect(await stop.frames()).to.have.property("frames");
    await stop.abort();
    expect(await values(first, "(+ 2 2)")).to.deep.equal(["4"]);
    await first.close();
    while ((await count()) !== 1) await pause(20);
    expect(await values(second, "(+ 3 3)")).to.deep.equal(["6"]);
    await second.close();
  });

  it("do not affect each other, and each leaves only its own packages", async () => {
    const alone = await image.ask(HOOKS);
    const client = await image.connect();
    await values(client, "(defun up-work (n) (* n 2))");
    await client.breakpoints.set("up-work");
    const halted = client.evaluate('(progn (restart-case (error "of the newer one") (go-on () :went-on)))');
    const stop = stopped(await halted.next());
    const withOne = await image.ask(HOOKS);
    await killedClient(
      `await client.breakpoints.set("up-work", { thread: "any" });
       for (const code of ["(loop)", '(error "of the older one")', "(up-work 1)"]) client.evaluate(code);
       let stops = 0;
       client.on("stop", () => (stops += 1) === 2 && tell("stopped"));`,
      { ...copies.options(image), library: await copies.library(0) },
    );
    while ((await count()) !== 1) await pause(20);
    while ((await image.ask(HOOKS)) !== withOne) await pause(20);
    expect(stop.stop.isLive).to.equal(true);
    const reached = client.evaluate("(up-work 21)");
    const at = stopped(await reached.next());
    expect(at.stop.reason).to.equal("breakpoint");
    await at.stop.continue();
    expect(await reached.next()).to.deep.include({ status: "returned", values: ["42"] });
    await stop.stop.invokeRestart(0);
    expect(await halted.next()).to.deep.include({ status: "returned", values: [":WENT-ON"] });
    await client.close();
    while ((await image.ask(HOOKS)) !== alone) await pause(20);
  });
});

/** Names of the packages of every version of the runtime that is loaded. */
const LOADED_VERSIONS = `(cl:count-if (cl:lambda (package) (cl:eql 0 (cl:search "SWANK-CLIENT/EVALUATE/" (cl:package-name package)))) (cl:list-all-packages))`;

/**
 * The system, loaded as somebody who works on it does, under the names that its files have.
 *
 * @param compile - Compile its files even if they are compiled.
 * @returns whether it understands what it is called with
 */
function loadByHand(compile: boolean): string {
  const asd = inRepository("packages/swank-client/lisp/swank-client.asd");
  return `(cl:progn
    (cl:require "asdf")
    (cl:dolist (name (cl:funcall (cl:intern "REGISTERED-SYSTEMS" "ASDF")))
      (cl:when (cl:eql 0 (cl:search "swank-client" name)) (cl:funcall (cl:intern "CLEAR-SYSTEM" "ASDF") name)))
    (cl:let ((cl:*standard-output* (cl:make-broadcast-stream)) (cl:*error-output* (cl:make-broadcast-stream)))
      (cl:funcall (cl:intern "LOAD-ASD" "ASDF") (sb-ext:parse-native-namestring ${JSON.stringify(asd)}))
      (cl:funcall (cl:intern "LOAD-SYSTEM" "ASDF") "swank-client" :force ${compile ? "cl:t" : "cl:nil"}))
    (cl:not (cl:null (cl:fboundp (cl:intern "EVALUATE" "SWANK-CLIENT/EVALUATE")))))`;
}

describe("Runtime loaded by hand as a system into an image with clients", function () {
  // all its files are compiled
  this.timeout(240_000);
  const image = liveClient();

  it("does not affect the clients' runtime, nor the reverse, in either order of loading", async () => {
    const halted = image.client.evaluate('(restart-case (error "before it is loaded") (go-on () :went-on))');
    const stop = stopped(await halted.next());
    expect(await image.ask(loadByHand(true))).to.equal("T");
    await stop.stop.invokeRestart(0);
    expect(await halted.next()).to.deep.include({ status: "returned", values: [":WENT-ON"] });
    const definition = '(cl:fdefinition (cl:intern "EVALUATE" "SWANK-CLIENT/EVALUATE"))';
    const remember = `(cl:defparameter cl-user::*by-hand* ${definition})`;
    await image.ask(`(cl:progn ${remember} 1)`);
    const later = await image.connect();
    expect(await values(later, "(+ 1 2)")).to.deep.equal(["3"]);
    await later.breakpoints.list();
    expect(await image.ask(loadByHand(false))).to.equal("T");
    expect(await values(later, "(+ 2 2)")).to.deep.equal(["4"]);
    expect(await image.values(`(eq cl-user::*by-hand* ${definition})`)).to.deep.equal(["NIL"]);
    expect(await image.ask(LOADED_VERSIONS)).to.equal("1");
  });
});
