import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Imported into a process: SIGUSR2 has it collect all its garbage, and say so on standard error. */
setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

process.on("SIGUSR2", () => {
  if (typeof collect === "function") collect();
  process.stderr.write("collected\n");
});
