import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { about, checkManifests } from "../manifests/manifests.mjs";
import { packMcpb } from "../manifests/mcpb.mjs";
import { build } from "../setup/build.mjs";
import { ensureDependencies } from "../setup/dependencies.mjs";
import { ensureForTests } from "../setup/lisp.mjs";
import { inRepository } from "../setup/paths.mjs";
import { runProgram, SetupError } from "../setup/programs.mjs";
import { packEmacs } from "./emacs.mjs";
import {
  changedFiles,
  changesOf,
  checkVersions,
  currentCommit,
  FOLDER,
  missingForRelease,
  PACKAGES,
  refuseIf,
} from "./readiness.mjs";
import { writeRecord } from "./record.mjs";
import { tryArtifacts } from "./trial.mjs";

/**
 * Packs what users install, tries it as they would, and lists it. What was tried can then be published.
 *
 * @param {readonly string[]} args `--dry-run`
 * @throws {SetupError} if something is wrong
 */
export async function release(args) {
  if (args.length !== 1 || args[0] !== "--dry-run")
    throw new SetupError("npm run release -- [--dry-run]: there are no other arguments.");
  await ensureDependencies();
  await build();
  const { version } = JSON.parse(await readFile(inRepository("package.json"), "utf8"));
  refuseIf("The release is not consistent", [...(await checkVersions(version)), ...(await checkManifests())]);
  // With changed files, it would be another thing than the commit that was tried.
  const commit = (await changedFiles()).length === 0 ? await currentCommit() : undefined;
  await ensureForTests();
  const artifacts = await pack();
  await tryArtifacts(artifacts, version);
  await writeNotes(version);
  for (const line of await listing(artifacts)) say(line);
  await writeRecord(inRepository(FOLDER), commit, artifacts.packages);
  say("Nothing was published: this was a dry run.");
  for (const sentence of await missingForRelease(version)) say(`Not yet: ${sentence}`);
}

/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`);

/**
 * What is published: tarballs for npm in the order of PACKAGES, and files for the release's page.
 *
 * @typedef {{ packages: string[], mcpb: string, emacs: string }} Artifacts
 */

/** @returns {Promise<Artifacts>} */
async function pack() {
  const folder = inRepository(FOLDER);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const packages = [];
  for (const name of PACKAGES) {
    const cwd = inRepository(`packages/${name}`);
    // `prepack` would build again.
    await must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], { cwd });
    const tarball = (await readdir(folder)).find((file) => file.startsWith(name) && file.endsWith(".tgz"));
    packages.push(join(folder, tarball ?? ""));
  }
  return { packages, mcpb: await packMcpb(folder), emacs: await packEmacs(folder) };
}

/** The section of the changelog, for the release's page. Before the release, it is that of the changes so far. @param {string} version */
async function writeNotes(version) {
  const changelog = await readFile(inRepository("CHANGELOG.md"), "utf8");
  const text = changesOf(changelog, version) ?? changesOf(changelog, "Unreleased") ?? "";
  await writeFile(inRepository(`${FOLDER}/notes.md`), `${text}\n`);
}

/** @param {Artifacts} artifacts */
async function listing({ packages, mcpb, emacs }) {
  const { mcpName } = await about();
  const files = [
    ...packages.map((path) => ({ path, where: "npm" })),
    ...[mcpb, emacs].map((path) => ({ path, where: "GitHub" })),
  ];
  const lines = files.map(async ({ path, where }) => {
    const data = await readFile(path);
    const digest = createHash("sha256").update(data).digest("hex");
    return `${where.padEnd(8)}${path.slice(inRepository().length)}  ${data.length} bytes  sha256 ${digest}`;
  });
  return ["To be published:", ...(await Promise.all(lines)), `MCP registry: server.json as ${mcpName}`];
}

/** @param {string} program @param {readonly string[]} args @param {import("node:child_process").SpawnOptions} [options] */
async function must(program, args, options) {
  const code = await runProgram(program, args, options);
  if (code !== 0) throw new SetupError(`${program} ${args.join(" ")} failed; see above.`);
}
