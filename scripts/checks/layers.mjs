/** The rules of dependency-cruiser for imports between packages and folders, including imports of types. */

/** The packages of the MCP SDK, which only the folder of its adapter imports. */
const SDK = ["@modelcontextprotocol/server", "@modelcontextprotocol/node"];

/**
 * For each package: whether it may import Node, the other packages that it may import, and its folders. A folder imports only from folders in
 * earlier entries; folders of one entry do not import from each other. `entryPoints` are in no folder and import from all.
 *
 * The direction is swank-mcp -> swank-client -> sexp-parser -> nothing.
 *
 * @typedef {{ node: boolean, packages: readonly string[], folders: readonly (readonly string[])[], entryPoints: string }} Package
 * @type {Readonly<Record<string, Package>>}
 */
const PACKAGES = {
  "sexp-parser": { node: false, packages: [], folders: [], entryPoints: ".+" },
  "swank-client": {
    node: true,
    packages: ["sexp-parser", "fastest-levenshtein"],
    folders: [
      ["base"],
      ["files", "source-text"],
      ["wire"],
      ["runtime"],
      ["evaluation", "handshake"],
      ["code", "program"],
      ["swank"],
      ["launch"],
    ],
    entryPoints: "[^/]+",
  },
  "swank-mcp": {
    node: true,
    packages: ["swank-client", "zod", "diff", "fastest-levenshtein", "jsonc-parser", "smol-toml", ...SDK],
    folders: [
      ["text"],
      ["base"],
      ["session"],
      ["report"],
      ["call"],
      ["tools"],
      ["mcp"],
      ["http"],
      ["page"],
      ["setup", "doctor"],
      ["console"],
    ],
    entryPoints: "(index|bin|serve|check-files)\\.ts",
  },
};

/** A pattern for the files of a package. @param {string} name */
const sourceOf = (name) => `^packages/${name}/src/`;

/** A pattern for the files directly in a folder. @param {string} name of the package @param {string} folder */
const filesIn = (name, folder) => `${sourceOf(name)}${folder}/[^/]+$`;

/** @param {readonly [name: string, rules: Package]} package_ */
function importRule([name, { node, packages }]) {
  const allowed = packages.flatMap((other) => [`^packages/${other}/dist/`, `(^|/)node_modules/${other}/`]);
  return {
    name: `${name}-imports`,
    comment: `${name} may import only from ${["itself", ...(node ? ["Node"] : []), ...packages].join(", ")}.`,
    severity: "error",
    from: { path: sourceOf(name) },
    to: {
      couldNotResolve: false,
      pathNot: [sourceOf(name), ...allowed],
      ...(node ? { dependencyTypesNot: ["core"] } : {}),
    },
  };
}

/** @param {readonly [name: string, rules: Package]} package_ */
function folderRules([name, { folders: order }]) {
  return order.flatMap((folders, index) =>
    folders.map((folder) => ({
      name: `folder-${folder}`,
      comment: `${name}/src/${folder} imports only from folders before it in scripts/checks/layers.mjs.`,
      severity: "error",
      from: { path: filesIn(name, folder) },
      to: {
        path: sourceOf(name),
        pathNot: [...order.slice(0, index).flat(), folder].map((known) => filesIn(name, known)),
      },
    })),
  );
}

/** @param {readonly [name: string, rules: Package]} package_ */
function unknownFolderRule([name, { folders, entryPoints }]) {
  return {
    name: "no-unknown-folder",
    comment: `A file of ${name}, except the entry points, belongs in a folder that scripts/checks/layers.mjs lists.`,
    severity: "error",
    from: {
      path: sourceOf(name),
      pathNot: [`${sourceOf(name)}${entryPoints}$`, ...folders.flat().map((folder) => filesIn(name, folder))],
    },
    to: {},
  };
}

const RULES = Object.entries(PACKAGES);

export default {
  forbidden: [
    ...RULES.map(importRule),
    ...RULES.flatMap(folderRules),
    ...RULES.map(unknownFolderRule),
    {
      name: "sdk-adapter",
      comment: "Only swank-mcp/src/mcp imports the MCP SDK.",
      severity: "error",
      from: { path: "^packages/", pathNot: filesIn("swank-mcp", "mcp") },
      to: { path: SDK.map((name) => `(^|/)node_modules/${name}/`) },
    },
    {
      name: "no-unknown-package",
      comment: "List the permitted imports of a new package in scripts/checks/layers.mjs.",
      severity: "error",
      from: { path: "^packages/", pathNot: RULES.map(([name]) => `^packages/${name}/`) },
      to: {},
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
