import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect } from "swank-client";
import { findLisp, launchImage } from "swank-client/launch";
import { retry, stepThrough } from "../live/step-through.js";
import { BUILDING_TIME } from "./launching.js";

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

  for (const useCore of [true, false]) {
    it(`stops at steps of the user's code only, ${useCore ? "from a core" : "loaded"}`, async function () {
      this.timeout(BUILDING_TIME);
      const image = await launchImage({ lisp: script, cacheDir: join(place, "cache"), useCore });
      try {
        const client = await connect({ transport: () => image.transport() });
        await stepThrough(client);
        await retry(client);
        await client.close();
      } finally {
        await image.stop();
      }
    });
  }
});
