/** The families of tools, which `--tools` chooses. */
export const FAMILIES = ["core", "debug", "breakpoints", "code", "runtime"] as const;

/** A family of tools. */
export type Family = (typeof FAMILIES)[number];
