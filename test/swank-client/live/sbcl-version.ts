import type { SwankClient } from "swank-client";

/** True if the image runs this version of SBCL or a newer one. */
export function runsSbcl({ info }: SwankClient, major: number, minor: number): boolean {
  const [actualMajor = 0, actualMinor = 0] = info.implementation.version.split(".").map(Number);
  return actualMajor > major || (actualMajor === major && actualMinor >= minor);
}
