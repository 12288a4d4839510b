import { spawn } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { inRepository } from "../../../scripts/setup/paths.mjs";

/** A process that would live for ever, its stdin being held open, but for `endWithParent`. */
const CHILD = `
  import { endWithParent } from ${JSON.stringify(pathToFileURL(inRepository("scripts/setup/end-with-parent.mjs")).href)};
  endWithParent(20);
  process.stdin.resume();
  process.stdout.write("up");
`;
const STARTER = `
  const { spawn } = require("node:child_process");
  const [program, ...args] = JSON.parse(process.env.COMMAND);
  spawn(program, args, { stdio: "inherit" });
`;

describe("endWithParent", () => {
  const node = [process.execPath, "--input-type=module", "-e", CHILD];
  const commands = /** @type {[string, string[], NodeJS.Platform[]][]} */ ([
    ["directly", node, ["linux", "darwin"]],
    ["by a shell, as npm does,", ["sh", "-c", '"$0" "$@"; true', ...node], ["linux"]],
  ]);

  for (const [how, command, platforms] of commands) {
    if (!platforms.includes(process.platform)) continue;
    it(`ends a process started ${how} after its parent is killed`, async () => {
      const env = { ...process.env, COMMAND: JSON.stringify(command), npm_lifecycle_event: "start" };
      const starter = spawn(process.execPath, ["-e", STARTER], { stdio: ["pipe", "pipe", "inherit"], env });
      const [text] = await once(starter.stdout, "data");
      expect(String(text)).to.equal("up");
      starter.kill("SIGKILL");
      // Only when the last process that holds the pipe has ended does the stream close.
      await once(starter, "close");
      expect(starter.signalCode).to.equal("SIGKILL");
    });
  }
});
