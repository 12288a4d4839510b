// Run by tests as a process of its own: launches an image, has it evaluate the given forms, tells how, and then does nothing.
import { setTimeout } from "node:timers/promises";
import { read } from "sexp-parser";
import { type LaunchImageOptions, launchImage } from "swank-client/launch";
import { Connection } from "swank-client/protocol";

const [cacheDir, ...forms] = process.argv.slice(2);
const options: LaunchImageOptions = JSON.parse(process.env["LAUNCH_OPTIONS"] ?? "{}");
// Only SBCL has a core, which loads faster without the runtime.
const image = await launchImage({
  cacheDir,
  ...(options.lisp === undefined ? { runtimeSources: [] } : {}),
  ...options,
});
const connection = new Connection(await image.transport());
for (const form of forms) void connection.request(read(form), { label: form }).catch(() => undefined);
// By then it has read them. One of them may keep it from reading any more.
await setTimeout(200);
process.stdout.write(`${JSON.stringify({ pid: image.pid, how: image.how, notes: image.notes })}\n`);
