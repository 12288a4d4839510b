import { once } from "node:events";
import { chmod, mkdir, realpath, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { findLisp } from "swank-client/launch";
import { rejection } from "../../support/caught.js";
import { launching } from "./launching.js";

describe("Environment of a launched image", () => {
  const { launch, folder } = launching();

  for (const [way, useCore] of [
    ["from a core", true],
    ["loaded", false],
  ] as const) {
    describe(`started ${way}`, () => {
      it("is the same as under sbcl", async () => {
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
      });

      it("includes SBCL's modules", async () => {
        const { evaluate } = await launch({ useCore });
        expect(await evaluate("(cl:progn (cl:require :sb-sprof) (cl:and (cl:find-package :sb-sprof) t))")).to.equal(
          "t",
        );
      });

      it("has an empty standard input and no terminal", async () => {
        const { evaluate } = await launch({ useCore });
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
        const socket = connect({ host: "127.0.0.1", port: Number(port) });
        await once(socket, "connect");
        socket.destroy();
        // Somebody else's connection that closes is no reason to end.
        expect(await evaluate("(cl:+ 1 2)")).to.equal("3");
      });

      it("reports an exhausted heap, in the debugger or as its last output", async () => {
        const { image, evaluate, send, connection } = await launch({ useCore, dynamicSpaceSize: 300 });
        expect(await evaluate("(sb-ext:dynamic-space-size)")).to.equal(String(300 * 1024 * 1024));
        const stopped = new Promise<string>((resolve) => {
          connection.on("event", (message) => {
            if (message.type === "debug") resolve(message.condition.message);
          });
        });
        // One allocation: SBCL can hang if many small ones exhaust the heap while a garbage collection runs.
        send("(cl:make-array (cl:expt 10 8))");
        expect(await Promise.race([stopped, image.exited.then(({ outputTail }) => outputTail)])).to.match(
          /Heap exhausted/,
        );
      });
    });
  }

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
    const error = await rejection(launch({ dynamicSpaceSize: 1 }), "INVALID_ARGUMENT");
    expect(error.message).to.include("1 MB");
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
