// An agent adds a feature to a copy of examples/feature/lending, with tests and their coverage. Prints docs/feature.md, with its reasoning, calls
// and answers. The exit status is 1 if an answer is not the expected one.
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addFeature } from "./feature/story.mjs";
import { Agent, WrongTurn } from "./support/agent.mjs";

const SYSTEM = fileURLToPath(new URL("feature/lending", import.meta.url));
const FIVEAM = fileURLToPath(new URL("../test/support/find-fiveam.lisp", import.meta.url));

const INTRODUCTION = `# An agent adds a feature

An agent finds its way in a small system that it has not seen, adds a feature to its files, and tests it until each line of it has run. The page shows
its reasoning, its tool calls and the answers. It edits the files with its host's own tools, shown as \`edit\`. \`node examples/feature.mjs\` writes this
page from a real session, and fails if an answer is not the expected one.

The system: [package.lisp](../examples/feature/lending/package.lisp), [books.lisp](../examples/feature/lending/books.lisp),
[fines.lisp](../examples/feature/lending/fines.lisp), [tests.lisp](../examples/feature/lending/tests.lisp).
`;

const folder = await realpath(await mkdtemp(join(tmpdir(), "lending-")));
const fasls = `(:output-translations ("${folder}/" "${folder}/fasl/") :inherit-configuration)`;
const agent = new Agent((text) => process.stdout.write(text), `${folder}/`);
process.stdout.write(`${INTRODUCTION}\n`);
try {
  await cp(SYSTEM, folder, { recursive: true });
  await agent.start(["--load", FIVEAM], { ASDF_OUTPUT_TRANSLATIONS: fasls });
  await addFeature(agent);
} catch (error) {
  if (!(error instanceof WrongTurn)) throw error;
  process.stderr.write(`Wrong turn: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  await agent.end();
  await rm(folder, { recursive: true });
}
