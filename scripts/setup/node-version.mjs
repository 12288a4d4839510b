// Kept to old syntax and without imports, so that an old Node can still say what is wrong.

/** The oldest Node that everything here runs on, as in `engines` of package.json: major and minor version. */
export const OLDEST_NODE = /** @type {const} */ ([20, 19]);

/**
 * What to tell somebody whose Node is too old.
 *
 * @param {string} version such as `process.versions.node`
 * @returns {string | undefined} `undefined` when the version will do
 */
export function nodeComplaint(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `This needs Node ${oldestMajor}.${oldestMinor} or newer; the one on PATH is ${version}.
Install a newer one (https://nodejs.org/en/download, or \`nvm install\`, \`fnm install\`, \`brew install node\`) and run the same command again.
`;
}
