/** The versions with which all tests pass; docs/compatibility.md has the details. */
export const TESTED = {
  node: ["20.20", "22.23", "24.21"],
  sbcl: ["2.2.9", "2.5.2", "2.6.4"],
  ecl: ["21.2"],
  swank: ["2.27", "2.30", "2.32"],
  emacs: ["27.1", "28.2", "30.1"],
} as const;

/** The oldest versions that are supported. */
export const OLDEST = { node: "20.19", swank: "2.24" } as const;

/** Compares the numbers at the beginning of two versions, such as `2.2.9.debian`: negative if the first one is older. */
export function compareVersions(left: string, right: string): number {
  const [ours, theirs] = [left, right].map((text) => text.split(".").map((part) => Number.parseInt(part, 10)));
  for (let index = 0; index < Math.max(ours?.length ?? 0, theirs?.length ?? 0); index += 1) {
    const difference = (ours?.[index] || 0) - (theirs?.[index] || 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether a version, or a newer one of its series, is among those that were tested; in words. */
export function testedText(version: string, tested: readonly string[]): string {
  return tested.some((known) => version === known || version.startsWith(`${known}.`))
    ? "tested"
    : `not tested; tested are ${tested.join(", ")}`;
}
