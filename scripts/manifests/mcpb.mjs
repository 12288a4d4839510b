import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { listTools } from "../checks/sizes.mjs";
import { inRepository } from "../setup/paths.mjs";
import { about, bundleManifest, jsonText, manifestProblems, SERVER } from "./manifests.mjs";

/** The files of the package that the server needs, and those that accompany it. */
const CONTENT =
  /^(?:bin\/.*|dist\/program\/(?!.*\.map$).*|emacs\/[^/]*\.el|skills\/.*|LICENSE|README\.md|package\.json)$/;

/** The oldest date of a zip file. With it, equal files give equal archives. */
const DATE = new Date(1980, 0, 1);

/**
 * Writes the .mcpb file, a zip file that desktop programs install. Needs the build.
 *
 * @param {string} folder
 * @returns {Promise<string>} its path
 */
export async function packMcpb(folder) {
  const { zipSync } = await import("fflate");
  const data = await about();
  const { tools } = /** @type {{ tools: { name: string, title: string }[] }} */ (await listTools());
  const manifest = bundleManifest(
    data,
    tools.map(({ name, title }) => ({ name, description: title })),
  );
  const problems = await manifestProblems("manifest.json", manifest);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  /** @type {import("fflate").Zippable} */
  const content = { "manifest.json": Buffer.from(jsonText(manifest)) };
  for (const path of await packedFiles()) {
    // 0o755 for programs, in the half of the attributes that belongs to Unix.
    const mode = path.startsWith("bin/") ? 0o100755 : 0o100644;
    content[path] = [await readFile(inRepository(`${SERVER}/${path}`)), { os: 3, attrs: mode * 2 ** 16 }];
  }
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${data.name}-${data.version}.mcpb`);
  await writeFile(path, zipSync(content, { mtime: DATE }));
  return path;
}

async function packedFiles() {
  const root = inRepository(SERVER);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .filter((path) => CONTENT.test(path) && !isDraft(path))
    .sort();
}

/** Whether a file is the draft of a build that runs meanwhile. @param {string} path */
function isDraft(path) {
  return basename(path).startsWith(".");
}
