import { appendFile, cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "chai";
import type { connect, SwankClient } from "swank-client";
import { liveImage } from "./live-image.js";
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

describe("Versions of the runtime", function () {
  // compiles eleven versions
  this.timeout(600_000);
  const image = liveImage();
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "versions-"));
    await symlink(inRepository("node_modules"), join(folder, "node_modules"));
  });
  after(() => rm(folder, { recursive: true }));

  /** A client of a copy of the library that has another version. */
  async function clientOf(number: number): Promise<SwankClient> {
    const copy = join(folder, String(number));
    await mkdir(copy);
    for (const part of ["dist", "lisp", "package.json"]) {
      await cp(inRepository(`packages/swank-client/${part}`), join(copy, part), { recursive: true });
    }
    await appendFile(join(copy, "lisp/connection/guard.lisp"), `\n(defparameter *copy* ${number})\n`);
    const library: { readonly connect: typeof connect } = await import(pathToFileURL(join(copy, "dist/index.js")).href);
    return library.connect({ port: image.swank.port, cacheDir: false });
  }

  /** The number of versions besides that of the client that asks. */
  async function count(): Promise<number> {
    return Number(await image.ask(VERSIONS)) - 1;
  }

  it("that nobody uses are deleted when another one has come: ten in turn leave one", async () => {
    let kept: string | undefined;
    for (let number = 0; number < 10; number += 1) {
      const client = await clientOf(number);
      expect(await values(client, "(+ 1 2)")).to.deep.equal(["3"]);
      while ((await count()) !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
      kept ??= await image.ask(KEPT);
      expect(await image.ask(KEPT)).to.equal(kept);
      await client.close();
    }
    expect(await count()).to.equal(1);
  });

  it("are kept while a client uses them, with its stops, and deleted when it leaves", async () => {
    const first = await clientOf(100);
    const { stop } = stopped(await first.evaluate('(error "stopped in the older version")').next());
    const second = await clientOf(101);
    expect(await values(second, "(+ 1 2)")).to.deep.equal(["3"]);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await stop.frames()).to.have.property("frames");
    await stop.abort();
    expect(await values(first, "(+ 2 2)")).to.deep.equal(["4"]);
    await first.close();
    while ((await count()) !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await values(second, "(+ 3 3)")).to.deep.equal(["6"]);
    await second.close();
  });
});
