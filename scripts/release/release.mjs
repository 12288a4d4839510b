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
import { changesOf, checkVersions, missingForRelease, PACKAGES } from "./readiness.mjs";
import { tryArtifacts } from "./trial.mjs";

/** What is published, and notes for people. Not committed. */
const FOLDER = "dist/release";

/**
 * Packs what users install, tries it as they would, and publishes the packages to npm.
 *
 * @param {readonly string[]} args `--dry-run` publishes nothing
 * @throws {SetupError} if something is wrong, or missing for a release
 */
export async function release(args) {
  if (args.some((arg) => arg !== "--dry-run"))
    throw new SetupError("npm run release -- [--dry-run]: there are no other arguments.");
  const dryRun = args.length > 0;
  await ensureDependencies();
  await build();
  const { version } = JSON.parse(await readFile(inRepository("package.json"), "utf8"));
  refuseIf("The release is not consistent", [...(await checkVersions(version)), ...(await checkManifests())]);
  const missing = await missingForRelease(version);
  if (!dryRun) refuseIf("Nothing was published", missing);
  // What is installed below runs scripts of other packages, which must not see it.
  const token = process.env["NODE_AUTH_TOKEN"];
  delete process.env["NODE_AUTH_TOKEN"];
  await ensureForTests();
  const artifacts = await pack();
  await tryArtifacts(artifacts, version);
  await writeNotes(version);
  for (const line of await listing(artifacts)) say(line);
  if (!dryRun) return publish(artifacts.packages, version, { ...process.env, NODE_AUTH_TOKEN: token });
  say("Nothing was published: this was a dry run.");
  for (const sentence of missing) say(`Not yet: ${sentence}`);
}

/** @param {string} what @param {readonly string[]} problems */
function refuseIf(what, problems) {
  if (problems.length > 0) throw new SetupError([`${what}:`, ...problems].join("\n  "));
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

/**
 * Publishes packages that the registry does not have yet, so that a release that was cut off can be repeated.
 *
 * @param {readonly string[]} tarballs
 * @param {string} version
 * @param {NodeJS.ProcessEnv} env with the token
 */
async function publish(tarballs, version, env) {
  // Only continuous integration can prove where the package was built.
  const provenance = process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] === undefined ? [] : ["--provenance"];
  const tag = version.includes("-") ? "next" : "latest";
  for (const [index, tarball] of tarballs.entries()) {
    const spec = `${PACKAGES[index]}@${version}`;
    const isThere = (await runProgram("npm", ["view", spec, "version"], { stdio: "ignore" })) === 0;
    if (isThere) say(`${spec} is in the registry already.`);
    else await must("npm", ["publish", tarball, "--access", "public", "--tag", tag, ...provenance], { env });
  }
}

/** @param {string} program @param {readonly string[]} args @param {import("node:child_process").SpawnOptions} [options] */
async function must(program, args, options) {
  const code = await runProgram(program, args, options);
  if (code !== 0) throw new SetupError(`${program} ${args.join(" ")} failed; see above.`);
}
