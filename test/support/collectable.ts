import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** For import into a process: at SIGUSR2 the process collects all garbage, and reports it on standard error. */
setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

process.on("SIGUSR2", () => {
  if (typeof collect === "function") collect();
  process.stderr.write("collected\n");
});
