import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connect, SwankError } from "swank-client";
import { type RealSwank, startRealSwank } from "../support/real-swank.js";
import { values } from "../swank-client/live/outcomes.js";
import { ABILITIES, BASIC, PROGRAM } from "./internals/abilities.js";
import { type Internal, importedInternals } from "./internals/imported.js";
import { withTable } from "./internals/table.js";

/** What happened to each ability: `undefined` if it worked. */
type Losses = ReadonlyMap<string, string>;

/** Milliseconds for one ability. */
const PATIENCE = 120_000;

/** Internals whose names contain this are tried: all by default. The table is written only if all are. */
const PATTERN = process.env["INTERNALS"] ?? "";

/**
 * SBCL's own macros, such as HANDLER-BIND, put these into all code. Where such a symbol is hidden, a compiled file has another one of its name, so that
 * nothing is learnt about an SBCL that has renamed it.
 */
const IN_ALL_CODE: readonly string[] = ["SB-KERNEL::*HANDLER-CLUSTERS*", "SB-KERNEL::*RESTART-CLUSTERS*"];

const INTERNALS = importedInternals().filter(({ name }) => name.includes(PATTERN) && !IN_ALL_CODE.includes(name));

describe("SwankClient with an SBCL that lacks an internal", function () {
  this.timeout(14_400_000);
  const results = new Map<string, Promise<Losses>>();
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "missing-internals-"));
    // compiles all modules once, which those that do not name the internal are then loaded from
    expect([...(await losses(undefined, join(folder, "whole")))]).to.deep.equal([]);
    let turn = 0;
    const starts = INTERNALS.map(({ name }) => {
      let start = () => {};
      const started = new Promise<void>((resolve) => {
        start = resolve;
      });
      results.set(
        name,
        started.then(() => prepared(name)),
      );
      return start;
    });
    const next = (): void => {
      const index = turn++;
      const name = INTERNALS[index]?.name;
      if (name === undefined) return;
      starts[index]?.();
      void results.get(name)?.then(next, next);
    };
    for (let count = 0; count < availableParallelism(); count++) next();
  });

  after(async () => {
    await Promise.allSettled(results.values());
    await rm(folder, { recursive: true, force: true });
  });

  async function prepared(name: string): Promise<Losses> {
    const cache = await mkdtemp(join(folder, "cache-"));
    await cp(join(folder, "whole"), cache, { recursive: true });
    await removeNaming(name, cache);
    return losses(name, cache).finally(() => rm(cache, { recursive: true, force: true }));
  }

  for (const { name } of INTERNALS) {
    it(`${name}: evaluates, reports errors with their restarts, completes names, and names it where it is needed`, async () => {
      const lost = (await results.get(name)) ?? new Map();
      const unnamed = [...lost].filter(([ability, message]) => ability in BASIC || !isNamed(name, message));
      expect(unnamed).to.deep.equal([]);
    });
  }

  it("has the table of docs/compatibility.md", async () => {
    if (PATTERN !== "") return;
    const rows = await Promise.all(
      INTERNALS.map(async (internal: Internal) => ({
        ...internal,
        lost: [...((await results.get(internal.name)) ?? [])].map(([ability]) => ability),
      })),
    );
    const page = join("docs", "compatibility.md");
    await writeFile(page, withTable(await readFile(page, "utf8"), rows));
  });
});

/**
 * Whether a message names what is missing. SBCL's own code also needs some of these, and then the message is SBCL's; sb-sprof cannot be loaded then.
 */
function isNamed(name: string, message: string): boolean {
  const word = name.split("::")[1] ?? "";
  return (
    message.includes(`lacks ${name}.`) ||
    message.includes("lacks sb-sprof, which cannot be loaded") ||
    (word.length > 8 && message.includes(word)) ||
    UNNAMED.get(name)?.test(message) === true
  );
}

/** Internals without which an ability goes on with less, and its message says what it has. */
const UNNAMED: ReadonlyMap<string, RegExp> = new Map([
  ["SB-C::*POLICY-MAX*", /compiled without stepping information/],
  ["SB-C::*POLICY-MIN*", /compiled without stepping information/],
]);

/** Removes the compiled modules that name an internal: they were compiled where it is not missing. */
async function removeNaming(name: string, cache: string): Promise<void> {
  const word = name.split("::")[1] ?? "";
  const files = (await readdir(cache, { recursive: true })).filter((file) => file.endsWith(".fasl"));
  for (const path of files.map((file) => join(cache, file))) if ((await readFile(path)).includes(word)) await rm(path);
}

/** Uses every ability in an image of its own that lacks an internal. */
async function losses(missing: string | undefined, cacheDir: string): Promise<Losses> {
  const image = await startRealSwank();
  const lost = new Map<string, string>();
  const file = `${cacheDir}.lisp`;
  try {
    // every client loads the module `connection`, which would import the internal before it is hidden
    if (missing !== undefined) await hide(missing, image);
    await writeFile(file, "(defun loaded () 1)\n");
    image.expectedFaults.push(/lacks|MISSING-INTERNAL|COMPILED-PROGRAM-ERROR/);
    const client = await connect({ port: image.port, cacheDir });
    try {
      await values(client, PROGRAM);
      for (const [ability, use] of Object.entries({ ...BASIC, ...ABILITIES })) {
        const message = await failureOf(use(client, file));
        if (message !== undefined) lost.set(ability, message);
      }
    } finally {
      await client.close();
    }
  } finally {
    await image.stop();
  }
  return lost;
}

async function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("It did not end.")), PATIENCE);
  });
  try {
    await Promise.race([work, late]);
    return undefined;
  } catch (error) {
    if (error instanceof SwankError) return `${error.code} ${error.message}`;
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Takes a symbol out of all packages, as if SBCL had renamed it. */
async function hide(fullName: string, { process: { stdout }, type }: RealSwank): Promise<void> {
  const [home, name] = fullName.split("::");
  let output = "";
  const hidden = new Promise<void>((resolve) => {
    stdout?.on("data", (chunk) => {
      output += String(chunk);
      if (output.includes("HIDDEN")) resolve();
    });
  });
  type(`(let ((symbol (find-symbol "${name}" "${home}")))
    (dolist (package (list-all-packages)) (sb-ext:unlock-package package))
    (dolist (package (list-all-packages))
      (when (eq symbol (find-symbol "${name}" package)) (ignore-errors (unintern symbol package))))
    (format sb-sys:*stdout* "HIDDEN~%")
    (finish-output sb-sys:*stdout*))`);
  await hidden;
}
