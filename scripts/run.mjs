// `node scripts/run.mjs COMMAND ARGS...` runs a command of scripts/commands.mjs.
// Uses only old syntax up to the dynamic import, so that an old Node can run it and print the message.
import { nodeComplaint } from "./setup/node-version.mjs";

const complaint = nodeComplaint(process.versions.node);

if (complaint) {
  process.stderr.write(complaint);
  process.exitCode = 1;
} else {
  import("./commands.mjs")
    .then(({ COMMANDS }) => {
      const command = COMMANDS[process.argv[2] || ""];
      if (command) return command(process.argv.slice(3));
      process.stderr.write(`The commands are: ${Object.keys(COMMANDS).join(", ")}.\n`);
      return 2;
    })
    .then(
      (exitCode) => {
        if (exitCode) process.exitCode = exitCode;
      },
      (error) => {
        process.stderr.write(error.name === "SetupError" ? `${error.message}\n` : `${error.stack}\n`);
        process.exitCode = 1;
      },
    );
}
