import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { inRepository } from "../setup/paths.mjs";

const SERVER = inRepository("packages/swank-mcp/");
const PROGRAM = join(SERVER, "dist/program");
const PAGE = join(SERVER, "page");
const LISP = inRepository("packages/swank-client/lisp");

/** What replaces the part of the MCP SDK that would bring a JSON Schema validator, which the server does not use. */
const SHIMS = `export { default as process } from "node:process";
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("The bundle contains no JSON Schema validator.");
  }
}`;

/**
 * Bundles the compiled swank-mcp with everything that it imports, into packages/swank-mcp/dist/program: once without the HTTP server and
 * the page, which would slow every start, and once with them.
 */
export async function bundle() {
  await mkdir(PROGRAM, { recursive: true });
  await writeProgram("swank-mcp.cjs", [WITHOUT_HTTP, REPLACEMENTS]);
  const inputs = await writeProgram("swank-mcp-http.cjs", [REPLACEMENTS]);
  await replaceFile("licences.txt", await licencesOf([...inputs, ...(await writePage())]));
  await copyLisp();
}

/** Writes what the browser loads, for which nothing else of the program is needed. @returns {Promise<string[]>} the paths of the bundled files */
async function writePage() {
  const page = await bundleForBrowser(["dist/main.js", "page.css"]);
  await mkdir(join(PROGRAM, "page"), { recursive: true });
  await replaceFile("page/page.js", page.script);
  await replaceFile("page/page.css", page.style);
  await replaceFile("page/index.html", await readFile(join(PAGE, "index.html"), "utf8"));
  const app = await bundleForBrowser(["dist/stop-app/main.js", "stop-app.css"]);
  await mkdir(join(PROGRAM, "app"), { recursive: true });
  await replaceFile("app/stop.html", appPage(app));
  return [...page.inputs, ...app.inputs];
}

/** The app that shows a stop in a host, which loads nothing. @param {{ script: string, style: string }} parts */
function appPage({ script, style }) {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Stop</title><style>${style}</style></head>
<body><script type="module">${script}</script></body></html>
`;
}

/** @param {readonly string[]} names of the files that import all others */
async function bundleForBrowser(names) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    absWorkingDir: inRepository(),
    entryPoints: names.map((name) => join(PAGE, name)),
    entryNames: "[name]",
    outdir: join(PROGRAM, "page"),
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    charset: "ascii",
    logLevel: "error",
  });
  const text = (/** @type {string} */ suffix) => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? "";
  return { script: text(".js"), style: text(".css"), inputs: Object.keys(metafile.inputs) };
}

/** @param {string} name @param {import("esbuild").Plugin[]} plugins */
async function writeProgram(name, plugins) {
  const { code, map, inputs } = await bundleProgram(plugins);
  await replaceFile(name, `${code}//# sourceMappingURL=${name}.map\n`);
  await replaceFile(`${name}.map`, map);
  return inputs;
}

/** @type {import("esbuild").Plugin} */
const REPLACEMENTS = { name: "replacements", setup: replaceModules };

/** @type {import("esbuild").Plugin} bin/swank-mcp.js runs the other bundle for the commands that need this code */
const WITHOUT_HTTP = {
  name: "without HTTP",
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]swank-mcp[/\\]dist[/\\](?:http|page|setup|doctor)[/\\][^/\\]+$/ }, () => ({
      contents: 'throw new Error("This bundle has only the usual commands.");',
    }));
  },
};

/** The head of the bundle, and what its code gets instead of `import.meta.url`. */
const HEAD = `"use strict";
const __url = require("node:url").pathToFileURL(__filename).href;`;

/** @param {import("esbuild").Plugin[]} plugins */
async function bundleProgram(plugins) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    absWorkingDir: inRepository(),
    entryPoints: [join(SERVER, "dist/bin.js")],
    outfile: join(PROGRAM, "out.cjs"),
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "cjs",
    target: "node20.19",
    // The other format of jsonc-parser loads its parts by names that esbuild does not see.
    mainFields: ["module", "main"],
    // Dynamic imports are then calls of `require`.
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "__url" },
    minifySyntax: true,
    minifyWhitespace: true,
    // Node prints the whole line of an uncaught error.
    lineLimit: 160,
    legalComments: "none",
    charset: "ascii",
    sourcemap: "external",
    sourcesContent: false,
    banner: { js: HEAD },
    plugins,
    logLevel: "error",
  });
  const text = (/** @type {string} */ suffix) => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? "";
  return { code: text(".cjs"), map: text(".map"), inputs: Object.keys(metafile.inputs) };
}

/** @param {import("esbuild").PluginBuild} build */
function replaceModules({ onResolve, onLoad }) {
  onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path }) => ({ path, namespace: "shims" }));
  onLoad({ filter: /./, namespace: "shims" }, () => ({ contents: SHIMS }));
  // The program has a copy of the Lisp code.
  onLoad({ filter: /\/runtime\/bundled\.js$/ }, async () => {
    const { readIndex } = await import("../../packages/swank-client/dist/runtime/runtime.js");
    return {
      contents: `export const LISP_FOLDER = new URL("./lisp/", import.meta.url);
        export const BUILT_INDEX = ${JSON.stringify(readIndex())};`,
    };
  });
  // The SDK's code that reads skills and makes their digests is larger than the skills.
  onLoad({ filter: /[/\\]dist[/\\]mcp[/\\]skills\.js$/ }, async () => {
    const { readSkills } = await import("../../packages/swank-mcp/dist/mcp/skills.js");
    return { contents: `export const readSkills = async () => (${JSON.stringify(await readSkills())});` };
  });
}

/** Replaces a file at once: another process may be reading it. @param {string} name @param {string} text */
async function replaceFile(name, text) {
  const draft = join(PROGRAM, dirname(name), `.${basename(name)}.${process.pid}`);
  await writeFile(draft, text);
  await rename(draft, join(PROGRAM, name));
}

/** Copies the Lisp systems. */
async function copyLisp() {
  const names = (await filesIn(LISP)).filter((name) => !name.endsWith(".fasl") && !name.startsWith("tests"));
  for (const name of names) {
    await mkdir(join(PROGRAM, "lisp", dirname(name)), { recursive: true });
    await replaceFile(join("lisp", name), await readFile(join(LISP, name), "utf8"));
  }
  const old = (await filesIn(join(PROGRAM, "lisp"))).filter((name) => !names.includes(name));
  await Promise.all(old.map((name) => rm(join(PROGRAM, "lisp", name), { force: true })));
}

/** The files of a folder and its subfolders, without drafts. @param {string} folder */
async function filesIn(folder) {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => extname(name) !== "" && !basename(name).startsWith("."));
}

/**
 * Returns the licences of the npm packages in a bundle, which must accompany their code.
 *
 * @param {readonly string[]} inputs paths of the bundled files from the repository's root
 * @returns {Promise<string>}
 */
async function licencesOf(inputs) {
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
