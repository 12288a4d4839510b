// Run by tests as a process of its own: launches an image, has it evaluate the given forms, tells how, and then does nothing.
import { read } from "sexp-parser";
import { Connection } from "swank-client";
import { launchImage } from "swank-client/launch";

const [cacheDir, ...forms] = process.argv.slice(2);
const image = await launchImage({ cacheDir });
const connection = new Connection(await image.transport());
for (const form of forms) void connection.request(read(form), { label: form }).catch(() => undefined);
// Requests are read in order, each is given a thread: when this one is answered, the others have one.
await connection.request(read("(swank:connection-info)"), { label: "connection-info" });
process.stdout.write(`${JSON.stringify({ pid: image.pid, how: image.how, notes: image.notes })}\n`);
