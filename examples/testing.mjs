// An agent repairs a copy of examples/testing/postage, whose tests fail. Prints docs/testing.md, with its reasoning, calls and answers.
// The exit status is 1 if an answer is not the expected one.
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, WrongTurn } from "./support/agent.mjs";
import { repair } from "./testing/story.mjs";

const SYSTEM = fileURLToPath(new URL("testing/postage", import.meta.url));
const FIVEAM = fileURLToPath(new URL("../test/support/find-fiveam.lisp", import.meta.url));

const INTRODUCTION = `# An agent repairs a system whose tests fail

An agent runs the tests of a small system, stops in the first failure, and finds two mistakes. It corrects them in the image, and saves the
corrections to the files. The page shows its reasoning, its tool calls and the answers. \`node examples/testing.mjs\` writes this page from a real
session, and fails if an answer is not the expected one.

The system: [package.lisp](../examples/testing/postage/package.lisp), [bands.lisp](../examples/testing/postage/bands.lisp),
[parcels.lisp](../examples/testing/postage/parcels.lisp), [tests.lisp](../examples/testing/postage/tests.lisp).
`;

const folder = await realpath(await mkdtemp(join(tmpdir(), "postage-")));
const fasls = `(:output-translations ("${folder}/" "${folder}/fasl/") :inherit-configuration)`;
const agent = new Agent((text) => process.stdout.write(text), `${folder}/`);
process.stdout.write(`${INTRODUCTION}\n`);
try {
  await cp(SYSTEM, folder, { recursive: true });
  await agent.start(["--load", FIVEAM], { ASDF_OUTPUT_TRANSLATIONS: fasls });
  await repair(agent, () => rm(`${folder}/fasl`, { recursive: true }));
} catch (error) {
  if (!(error instanceof WrongTurn)) throw error;
  process.stderr.write(`Wrong turn: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  await agent.end();
  await rm(folder, { recursive: true });
}
