import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { connect } from "swank-client";
import { findLisp, launchImage } from "swank-client/launch";
import { rejection } from "../../support/caught.js";
import { PLAIN } from "../../support/plain-core.js";
import { LAUNCH_CACHE } from "../../support/test-cache.js";
import { retry, stepThrough } from "../live/step-through.js";
import { BUILDING_TIME, launching, sharedCache } from "./launching.js";

describe("Environment of a launched image", () => {
  const { launch, folder } = launching();

  for (const [way, useCore] of [
    ["from a core", true],
    ["loaded", false],
  ] as const)
    describe(`started ${way}`, () => {
      it("is the same as under sbcl, with its modules, an empty standard input and no terminal", async () => {
        const cwd = await realpath(await folder());
        const { evaluate } = await launch({ cwd, useCore });
        const { version, runtime } = await findLisp();
        expect(await evaluate("(cl:lisp-implementation-version)")).to.equal(JSON.stringify(version));
        expect(await evaluate("(sb-ext:native-namestring sb-ext:*runtime-pathname*)")).to.equal(
          JSON.stringify(runtime),
        );
        expect(await evaluate("sb-ext:*posix-argv*")).to.equal('("sbcl")');
        expect(await evaluate("(sb-ext:native-namestring cl:*default-pathname-defaults*)")).to.equal(`"${cwd}/"`);
        expect(await evaluate("(cl:package-name cl:*package*)")).to.equal('"COMMON-LISP-USER"');
        expect(await evaluate("(cl:list cl:*load-verbose* cl:*compile-print*)")).to.equal("(nil nil)");
        const modules = "(cl:progn (cl:require :sb-sprof) (cl:and (cl:find-package :sb-sprof) t))";
        expect(await evaluate(modules)).to.equal("t");
        expect(await evaluate("(cl:read-line cl:*standard-input* nil :end)")).to.equal(":end");
        expect(await evaluate("(cl:read-line cl:*terminal-io* nil :end)")).to.equal(":end");
      });

      it("has a separate random state", async () => {
        const images = await Promise.all([launch({ useCore }), launch({ useCore })]);
        const [one, other] = await Promise.all(images.map(({ evaluate }) => evaluate("(cl:random 1000000000000)")));
        expect(one).not.to.equal(other);
      });

      it("allows a port on the loopback interface", async () => {
        const { evaluate } = await launch({ useCore });
        const port = await evaluate('(swank:create-server :port 0 :interface "127.0.0.1" :dont-close t :style :spawn)');
        const socket = connectSocket({ host: "127.0.0.1", port: Number(port) });
        await once(socket, "connect");
        socket.destroy();
        // Somebody else's connection that closes is no reason to end.
        expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
      });
    });

  it("has the given variables, and SBCL's variables unchanged", async () => {
    const { evaluate } = await launch({ env: { ...process.env, GIVEN: "yes", SBCL_HOME: undefined } });
    expect(await evaluate('(sb-ext:posix-getenv "GIVEN")')).to.equal('"yes"');
    expect(await evaluate('(sb-ext:posix-getenv "SBCL_HOME")')).to.equal("nil");
  });

  it("includes the modules of its SBCL in any directory, and if a script started it", async () => {
    const cwd = await folder();
    await mkdir(join(cwd, "contrib"));
    const { executable, home } = await findLisp();
    const script = join(cwd, "my-lisp");
    await writeFile(script, `#!/bin/sh\nSBCL_HOME=${home} exec ${executable} "$@"\n`);
    await chmod(script, 0o755);
    for (const lisp of [executable, script]) {
      const { image, evaluate } = await launch({ cwd, lisp });
      expect(image.notes).to.deep.equal([]);
      expect(await evaluate("(cl:progn (cl:require :sb-sprof) (cl:and (cl:find-package :sb-sprof) t))")).to.equal("t");
      expect(await evaluate("(sb-posix:getpid)")).to.equal(String(image.pid));
    }
  });

  it("distinguishes a heap size that no image can have from a damaged core", async () => {
    await launch();
    expect((await rejection(launch({ dynamicSpaceSize: 1 }), "INVALID_ARGUMENT")).message).to.include("1 MB");
    expect((await launch()).image.how).to.equal("core");
  });

  it("refuses a heap of size 0 and a missing folder", async () => {
    await rejection(launch({ dynamicSpaceSize: 0.5 }), "INVALID_ARGUMENT");
    await rejection(launch({ cwd: "/nowhere" }), "INVALID_ARGUMENT");
  });

  it("allows one connection", async () => {
    const { image } = await launch();
    await rejection(image.transport(), "CONNECTION_CLOSED");
  });

  it("has no open port", async () => {
    const { evaluate } = await launch();
    expect(await evaluate("swank::*servers*")).to.equal("nil");
  });
});

/** What the users of that SBCL want all code to be compiled with. */
const SETTINGS = "(progn (proclaim '(optimize (safety 0))) (sb-ext:restrict-compiler-policy 'debug 3))";

describe("launchImage with an SBCL whose core has custom settings", () => {
  let place: string;
  let script: string;

  before(async () => {
    place = await mkdtemp(join(tmpdir(), "core-settings-"));
    script = await customLisp();
  });

  after(() => rm(place, { recursive: true }));

  /** A script like those that start such an SBCL. */
  async function customLisp(): Promise<string> {
    const { executable } = await findLisp();
    const core = join(place, "custom.core");
    const save = `(sb-ext:save-lisp-and-die ${JSON.stringify(core)})`;
    const args = ["--noinform", "--no-sysinit", "--no-userinit", "--eval", SETTINGS, "--eval", save];
    await promisify(execFile)(executable, args);
    const path = join(place, "sbcl");
    await writeFile(path, `#!/bin/sh\nexec '${executable}' --core '${core}' "$@"\n`, { mode: 0o755 });
    return path;
  }

  it("stops at steps of the user's code only", async function () {
    this.timeout(BUILDING_TIME);
    const image = await launchImage({ lisp: script, cacheDir: join(place, "cache") });
    try {
      const client = await connect({ transport: () => image.transport() });
      await stepThrough(client);
      await retry(client);
      await client.close();
    } finally {
      await image.stop();
    }
  });
});

describe("Connecting to a launched image", () => {
  const { folder } = launching();
  const home = process.env["HOME"];

  afterEach(() => {
    process.env["HOME"] = home;
  });

  for (const [what, secret] of [
    ["the user's ~/.slime-secret", undefined],
    ["a secret that is given", "open sesame"],
  ] as const)
    it(`sends no secret, because nothing else can connect: not ${what}`, async () => {
      const path = await folder();
      await writeFile(join(path, ".slime-secret"), "for others\n", { mode: 0o600 });
      process.env["HOME"] = path;
      const image = await launchImage({ ...PLAIN, cacheDir: await sharedCache() });
      try {
        const client = await connect({ transport: image.transport, secret });
        expect((await client.evaluate("(+ 1 2)").next()).status).to.equal("returned");
        await client.close();
      } finally {
        await image.stop();
      }
    });
});

/** Whether SBCL must search all code for direct calls before it encapsulates a function. SBCL 2.5 and newer need not. */
const mustSearch = (name: string) => `
  (cl:let ((direct (cl:find-symbol "FDEFN-HAS-STATIC-CALLERS" "SB-VM")))
    (cl:and direct (cl:fboundp direct) (cl:funcall direct (sb-int:find-fdefn '${name})) cl:t))`;

const ENCAPSULATED = ["sb-ext:exit", "swank::dispatch-event", "swank/sbcl::definition-source-for-emacs"];

describe("launchImage from a core with the runtime", () => {
  const { launch } = launching();

  for (const name of ENCAPSULATED)
    it(`need not search for direct calls of ${name}, which clients encapsulate`, async () => {
      const { evaluate } = await launch({
        cacheDir: LAUNCH_CACHE,
        runtimeSources: undefined,
        warmUp: undefined,
      });
      expect(await evaluate(mustSearch(name))).to.equal("nil");
    });
});
