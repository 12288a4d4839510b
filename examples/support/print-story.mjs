import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, WrongTurn } from "./agent.mjs";

const FIVEAM = fileURLToPath(new URL("../../test/support/find-fiveam.lisp", import.meta.url));

/**
 * Prints a page: its introduction, then what an agent does. The exit status is 1 if an answer is not the expected one.
 *
 * @param {string} introduction
 * @param {(agent: Agent) => Promise<void>} tell starts the agent, and plays it
 * @param {string} [folder] the image's directory
 */
export async function printStory(introduction, tell, folder) {
  process.stdout.write(`${introduction}\n`);
  const agent = new Agent((text) => process.stdout.write(text), folder);
  try {
    await tell(agent);
  } catch (error) {
    if (!(error instanceof WrongTurn)) throw error;
    process.stderr.write(`Wrong turn: ${error.message}\n`);
    process.exitCode = 1;
  } finally {
    await agent.end();
  }
}

/**
 * Prints the page of a story about a copy of a system with tests of FiveAM, whose compiled files are in its folder `fasl`.
 *
 * @param {string} introduction
 * @param {URL} system its folder
 * @param {(agent: Agent, folder: string) => Promise<void>} tell
 */
export async function printStoryOfCopy(introduction, system, tell) {
  const original = fileURLToPath(system);
  const folder = await realpath(await mkdtemp(join(tmpdir(), `${basename(original)}-`)));
  const fasls = `(:output-translations ("${folder}/" "${folder}/fasl/") :inherit-configuration)`;
  try {
    await cp(original, folder, { recursive: true });
    await printStory(
      introduction,
      async (agent) => {
        await agent.start(["--load", FIVEAM], { ASDF_OUTPUT_TRANSLATIONS: fasls });
        await tell(agent, folder);
      },
      `${folder}/`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}
