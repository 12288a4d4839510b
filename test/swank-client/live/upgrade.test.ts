import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { killedClient } from "./killed-client.js";
import { liveImage } from "./live-image.js";
import { stopped, values } from "./outcomes.js";

const PACKAGES = fileURLToPath(new URL("../../../../packages", import.meta.url));

/** Names of the packages of every version of the runtime that is loaded. */
const VERSIONS = `(cl:count-if (cl:lambda (package) (cl:eql 0 (cl:search "SWANK-CLIENT/EVALUATE/" (cl:package-name package)))) (cl:list-all-packages))`;
const HOOKS = "(cl:list (cl:length swank::*connection-closed-hook*) (cl:length sb-ext:*exit-hooks*))";

/** Another version of the library: its Lisp has one more line. => what to import */
async function otherVersion(folder: string): Promise<string> {
  await cp(join(PACKAGES, "swank-client"), folder, {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  await symlink(join(PACKAGES, "..", "node_modules"), join(folder, "node_modules"));
  for (const name of ["package", "guard"]) {
    const file = join(folder, "lisp", `${name}.lisp`);
    await writeFile(file, `${await readFile(file, "utf8")}\n;;; Another version.\n`);
  }
  return pathToFileURL(join(folder, "dist", "index.js")).href;
}

describe("two versions of the library on one image", () => {
  const image = liveImage();
  let folder: string;
  let library: string;
  let client: SwankClient;
  let alone: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "swank-client-version-"));
    library = await otherVersion(folder);
  });
  beforeEach(async () => {
    alone = await image.ask(HOOKS);
    client = await image.connect();
  });
  after(() => rm(folder, { recursive: true }));

  it("do not touch each other, and each leaves nothing but its own packages", async () => {
    await values(client, "(defun up-work (n) (* n 2))");
    await client.breakpoints.set("up-work");
    const halted = client.evaluate('(progn (restart-case (error "of the newer one") (go-on () :went-on)))');
    const stop = stopped(await halted.next());
    const withOne = await image.ask(HOOKS);
    await killedClient(
      `await client.breakpoints.set("up-work", { thread: "any" });
       for (const code of ["(loop)", '(error "of the older one")', "(up-work 1)"]) client.evaluate(code);
       let stops = 0;
       client.onStop(() => (stops += 1) === 2 && tell("stopped"));`,
      { port: image.swank.port, library },
    );
    expect(await image.ask(VERSIONS)).to.equal("2");
    while ((await image.ask(HOOKS)) !== withOne) await pause(20);
    expect(stop.session.isLive).to.equal(true);
    const reached = client.evaluate("(up-work 21)");
    const at = stopped(await reached.next());
    expect(at.reason).to.equal("breakpoint");
    await at.session.continue();
    expect(await reached.next()).to.deep.include({ status: "returned", values: ["42"] });
    await stop.session.invokeRestart(0);
    expect(await halted.next()).to.deep.include({ status: "returned", values: [":WENT-ON"] });
    await client.close();
    while ((await image.ask(HOOKS)) !== alone) await pause(20);
  });
});
