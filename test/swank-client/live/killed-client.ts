import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { ConnectOptions } from "swank-client";

/**
 * Another process with a client of the image. It runs a program, the body of a function of `client` and `tell`, and is killed at the first
 * word that it tells.
 *
 * @param options - Of the client; `library` is where it comes from, if not from this repository.
 */
export async function killedClient(
  program: string,
  { library = "swank-client", ...options }: ConnectOptions & { readonly library?: string },
): Promise<string> {
  const source = `
    import { connect } from ${JSON.stringify(library)};
    const client = await connect(${JSON.stringify(options)});
    const tell = (word) => console.log(word);
    ${program}
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const complaint = text(child.stderr);
  const lines = createInterface({ input: child.stdout });
  const told = Promise.race([once(lines, "line"), once(lines, "close").then(() => [])]);
  const [word] = await told;
  child.kill("SIGKILL");
  await once(child, "exit");
  if (typeof word !== "string") throw new Error(`The client ended before it told anything:\n${await complaint}`);
  return word;
}
