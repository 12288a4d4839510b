import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { inRepository } from "../setup/paths.mjs";
import { SetupError } from "../setup/programs.mjs";
import { EMACS, emacsHeader } from "./readiness.mjs";

const run = promisify(execFile);

/**
 * Writes the Emacs package as a tar file, as package archives do.
 *
 * @param {string} folder
 * @returns {Promise<string>} its path
 */
export async function packEmacs(folder) {
  const header = emacsHeader(await readFile(inRepository(EMACS), "utf8"));
  const name = `swank-mcp-${header.version}`;
  const stage = await mkdtemp(join(tmpdir(), "emacs-package-"));
  try {
    await mkdir(join(stage, name));
    const source = inRepository(dirname(EMACS));
    for (const file of (await readdir(source)).filter((each) => each.endsWith(".el")))
      await cp(join(source, file), join(stage, name, file));
    await writeFile(join(stage, name, "swank-mcp-pkg.el"), packageDefinition(header));
    await run("tar", ["-cf", join(folder, `${name}.tar`), "-C", stage, name]);
  } finally {
    await rm(stage, { recursive: true });
  }
  return join(folder, `${name}.tar`);
}

/** @param {ReturnType<typeof emacsHeader>} header */
export function packageDefinition({ version, summary, requires, url, keywords }) {
  const text = (/** @type {string} */ value) => JSON.stringify(value);
  return `(define-package "swank-mcp" ${text(version)} ${text(summary)} '${requires}
  :url ${text(url)} :keywords '(${keywords.map(text).join(" ")}))
`;
}

/**
 * Installs the tar file in an Emacs with a home of its own, and loads the package from there.
 *
 * @param {string} tar
 * @param {string} home
 * @throws {SetupError} if that fails
 */
export async function tryEmacs(tar, home) {
  const slime = await run("emacs", ["--batch", "-l", inRepository("scripts/setup/locate-slime.el")]);
  const args = ["--batch", "-L", slime.stdout, "-l", inRepository("scripts/release/install-package.el"), tar];
  const { stdout } = await run("emacs", args, { env: { ...process.env, HOME: home } });
  const expected = join(home, ".emacs.d", "elpa", basename(tar, ".tar"), "swank-mcp.elc");
  if (!stdout.endsWith(expected))
    throw new SetupError(`Emacs loaded swank-mcp from ${stdout}, and not from ${expected}.`);
}
