import { connect, SwankError } from "swank-client";

const port = Number(process.env["SWANK_PORT"] ?? 4005);
// #region attach
const lisp = await connect({
  port,
  runtime: false, // load nothing but the code that guards this connection
  foreignErrors: "theirs", // never receive the errors of the image's threads
});
console.log(lisp.info.implementation.type, lisp.info.package.name);

for (const { name, status } of await lisp.threads()) if (name === "main thread") console.log(name, status);

await lisp.eval('(delete-file "/etc/motd")').catch((error) => {
  if (error instanceof SwankError) console.log(error.code);
});

await lisp.close(); // the image continues
// #endregion attach
