/**
 * Returns a Linux distribution's name and those of similar distributions (os-release(5), `ID` and `ID_LIKE`).
 *
 * @param {string} osRelease text of /etc/os-release
 * @returns {string[]} such as `["ubuntu", "debian"]`
 */
export function distributionNames(osRelease) {
  const values = [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].map(([, value = ""]) => value.replace(/["']/g, ""));
  return values.flatMap((value) => value.trim().split(/\s+/)).filter((name) => name !== "");
}

/** @param {string} osRelease text of /etc/os-release */
export function isDebianLike(osRelease) {
  return distributionNames(osRelease).some((name) => name === "debian" || name === "ubuntu");
}
