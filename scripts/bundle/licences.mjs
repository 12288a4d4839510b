import { readdir, readFile } from "node:fs/promises";
import { inRepository } from "../setup/paths.mjs";

/**
 * Returns the licences of the npm packages in a bundle, which must accompany their code.
 *
 * @param {readonly string[]} inputs paths of the bundled files from the repository's root
 * @returns {Promise<string>}
 */
export async function licencesOf(inputs) {
  const folders = inputs.flatMap((input) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
  const texts = await Promise.all([...new Set(folders)].sort().map(licenceOf));
  return texts.join("\n\n");
}

/** @param {string} folder of a package */
async function licenceOf(folder) {
  const names = await readdir(inRepository(folder));
  const name = names.find((candidate) => /^licen[cs]e/i.test(candidate));
  if (name === undefined) throw new Error(`${folder} has no licence, so it cannot be published in a bundle.`);
  return `${folder.replace("node_modules/", "")}\n\n${(await readFile(inRepository(`${folder}/${name}`), "utf8")).trim()}\n`;
}
