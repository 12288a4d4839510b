/** The families of tools, which `--tools` chooses. */
export const FAMILIES = ["core", "debug", "breakpoints"] as const;

/** A family of tools. */
export type Family = (typeof FAMILIES)[number];
