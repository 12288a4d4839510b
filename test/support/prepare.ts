// Builds the files that parallel tests with Lisps share, so that no test writes a file while another reads it.
import { Emacs } from "./emacs.js";
import { McpStdio } from "./mcp-stdio.js";
import { plainCore } from "./plain-core.js";
import { swankCore } from "./real-swank.js";

const server = McpStdio.start();
await Promise.all([plainCore(), swankCore(), server.then((started) => started.evaluate("1"))]);
await (await server).end();

if (process.argv.includes("emacs")) {
  // A Lisp started by Emacs compiles Swank at the first start.
  const emacs = await Emacs.start();
  await emacs.startLisp();
  await emacs.kill();
}
