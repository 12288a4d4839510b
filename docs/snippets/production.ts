import { connect, SwankError } from "swank-client";
import { image } from "swank-client/swank";

const port = Number(process.env["SWANK_PORT"] ?? 4005);
// #region attach
const client = await connect({
  port,
  runtime: false, // load nothing but the code that guards this connection
  foreignErrors: "theirs", // never receive the errors of the image's threads
});
console.log(client.info.implementation.type, client.info.package.name);

for (const { name, status } of await client.run(image.threads)) if (name === "main thread") console.log(name, status);

await client.eval('(delete-file "/etc/motd")').catch((error) => {
  if (error instanceof SwankError) console.log(error.code);
});

await client.close(); // the image continues
// #endregion attach
