/**
 * For swank-mcp: code that tasks run, because it reports evaluations in its own way, its own files, and what its `doctor` looks at. No part of the API: it
 * changes without notice.
 */
export { bareCode } from "sexp-parser";
export { Abilities } from "./base/abilities.js";
export { changesCode } from "./code/changes.js";
export { loadCode, testCode } from "./code/load.js";
export type { PreparedCode, RunCode } from "./evaluation/work.js";
export { keepWhileRunning } from "./files/kept.js";
export { attempted, defaultCacheFolder, homeFolder, ownFolder } from "./files/own.js";
export { quicklispFolders } from "./launch/swank.js";
export { growthCode } from "./program/heap.js";
export { profileCode } from "./program/profile.js";
export { timeCode } from "./program/timing.js";
export { type TraceCode, traceCode } from "./program/trace.js";
