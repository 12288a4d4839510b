/** The rules of dependency-cruiser for imports between packages and folders, including imports of types. */

/**
 * The other packages that each package may import. The direction is swank-mcp -> swank-client -> sexp-parser -> nothing.
 *
 * @type {Readonly<Record<string, { readonly node: boolean, readonly packages: readonly string[] }>>}
 */
const PACKAGES = {
  "sexp-parser": { node: false, packages: [] },
  "swank-client": { node: true, packages: ["sexp-parser", "fastest-levenshtein"] },
  "swank-mcp": {
    node: true,
    packages: ["swank-client", "zod", "diff", "fastest-levenshtein", "@modelcontextprotocol/server"],
  },
};

/** The folders of swank-mcp. Each imports only from folders in earlier entries; folders of one entry do not import from each other. */
const SERVER_FOLDERS = [["text"], ["base"], ["session"], ["report"], ["call"], ["tools"], ["mcp"], ["console"]];

/** The folders of swank-client, likewise. The entry points and the client are in no folder and import from all. */
const CLIENT_FOLDERS = [
  ["base"],
  ["files", "source-text"],
  ["wire"],
  ["runtime"],
  ["evaluation", "handshake"],
  ["code", "program"],
  ["swank"],
  ["launch"],
];

const SERVER = "^packages/swank-mcp/src/";
const CLIENT = "^packages/swank-client/src/";

/** Returns a pattern for the files directly in a folder. @param {string} source of the package @param {string} folder */
const filesIn = (source, folder) => `${source}${folder}/[^/]+$`;

/** @param {string} folder of swank-mcp */
const filesOf = (folder) => filesIn(SERVER, folder);

/** @param {string} name of a package */
function packageRule(name) {
  const { node, packages } = PACKAGES[name] ?? { node: false, packages: [] };
  const allowed = packages.flatMap((other) => [`^packages/${other}/dist/`, `(^|/)node_modules/${other}/`]);
  return {
    name: `${name}-imports`,
    comment: `${name} may import only from itself${[...(node ? ["Node"] : []), ...packages].map((text) => `, ${text}`).join("")}.`,
    severity: "error",
    from: { path: `^packages/${name}/src/` },
    to: {
      couldNotResolve: false,
      pathNot: [`^packages/${name}/src/`, ...allowed],
      ...(node ? { dependencyTypesNot: ["core"] } : {}),
    },
  };
}

/** @param {string} source of a package @param {readonly (readonly string[])[]} order of its folders */
function folderRules(source, order) {
  return order.flatMap((folders, index) =>
    folders.map((folder) => ({
      name: `folder-${folder}`,
      comment: `${source.slice(1)}${folder} imports only from folders before it in scripts/checks/layers.mjs.`,
      severity: "error",
      from: { path: filesIn(source, folder) },
      to: {
        path: source,
        pathNot: [...order.slice(0, index).flat(), folder].map((known) => filesIn(source, known)),
      },
    })),
  );
}

/** A pattern for the names of known packages. */
const KNOWN = Object.keys(PACKAGES).join("|");

export default {
  forbidden: [
    ...Object.keys(PACKAGES).map(packageRule),
    ...folderRules(SERVER, SERVER_FOLDERS),
    ...folderRules(CLIENT, CLIENT_FOLDERS),
    {
      name: "no-unknown-package",
      comment: "List the permitted imports of a new package in scripts/checks/layers.mjs.",
      severity: "error",
      from: { path: "^packages/", pathNot: `^packages/(${KNOWN})/` },
      to: {},
    },
    {
      name: "no-unknown-folder",
      comment:
        "A file of swank-mcp, except the entry points, belongs in a folder that scripts/checks/layers.mjs lists.",
      severity: "error",
      from: {
        path: SERVER,
        pathNot: [`${SERVER}(index|bin|serve|check-files)\\.ts$`, ...SERVER_FOLDERS.flat().map(filesOf)],
      },
      to: {},
    },
    {
      name: "no-folder-circle",
      comment: "Folders import from each other in a cycle, including imports of types.",
      severity: "error",
      scope: "folder",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolved",
      comment: "There is no such file or package, or it is not one of the package's exports.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // dependency-cruiser does not support the TypeScript version that compiles the packages.
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: ["node_modules", "^packages/[^/]+/dist/"] },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "node", "default"],
    },
  },
};
