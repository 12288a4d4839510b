import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connect } from "swank-client";
import { rejection } from "../../support/caught.js";
import { startRealSwank } from "../../support/real-swank.js";
import { values } from "./outcomes.js";

/** Takes a symbol out of all packages, as if SBCL had renamed it. */
const HIDE = `(let ((symbol (find-symbol "MAP-ALLOCATED-OBJECTS" "SB-VM")))
  (dolist (package (list-all-packages))
    (sb-ext:unlock-package package)
    (when (eq symbol (find-symbol "MAP-ALLOCATED-OBJECTS" package)) (ignore-errors (unintern symbol package))))
  (setf *hidden* t))`;

describe("SwankClient with an SBCL that lacks an internal", () => {
  it("says NOT_SUPPORTED with its name where it is needed, and does everything else", async () => {
    const cacheDir = await mkdtemp(join(tmpdir(), "missing-internal-"));
    const image = await startRealSwank();
    const client = await connect({ port: image.port, cacheDir });
    try {
      image.expectedFaults.push(/lacks/);
      image.type("(defvar *hidden* nil)");
      image.type(HIDE);
      while ((await values(client, "(and (boundp '*hidden*) *hidden*)"))[0] !== "T");
      const { message } = await rejection(client.program.heap.summary(), "NOT_SUPPORTED");
      expect(message).to.match(/^.*: This SBCL, .*, lacks SB-VM::MAP-ALLOCATED-OBJECTS\.$/);
      expect(await client.completions("mapca", "CL-USER")).to.include("mapcar");
    } finally {
      await client.close();
      await image.stop();
      await rm(cacheDir, { recursive: true });
    }
  });
});
