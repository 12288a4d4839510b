// Uses only old syntax and no imports, so that an old Node can run it and print the message.

/** The oldest supported Node, as in `engines` of package.json: major and minor version. */
export const OLDEST_NODE = /** @type {const} */ ([20, 19]);

/**
 * Returns the message for a Node that is too old.
 *
 * @param {string} version such as `process.versions.node`
 * @returns {string | undefined} `undefined` if the version is supported
 */
export function nodeComplaint(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `Node ${oldestMajor}.${oldestMinor} or newer is required; the Node on PATH is ${version}.
Install a newer version (https://nodejs.org/en/download, or \`nvm install\`, \`fnm install\`, \`brew install node\`) and run the same command again.
`;
}
