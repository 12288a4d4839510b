// swank-mcp with a probe: on SIGUSR2 it collects garbage and writes the bytes of its heap to the file that the first argument names.
import { writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const [file = "heap.txt"] = process.argv.splice(2, 1);
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
process.on("SIGUSR2", () => {
  collect();
  collect();
  writeFileSync(file, String(process.memoryUsage().heapUsed));
});

await import("../packages/swank-mcp/bin/swank-mcp.js");
