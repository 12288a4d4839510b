import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "swank-client";
import { findLisp, findSwank } from "swank-client/launch";
import { stepThrough } from "../swank-client/live/step-through.js";

describe("debugger_step in an image whose Swank is compiled for stepping", () => {
  it("stops only in the user's code", async function () {
    this.timeout(300_000);
    const home = await mkdtemp(join(tmpdir(), "stepping-swank-"));
    const { executable } = await findLisp();
    const forms = [
      "(sb-ext:restrict-compiler-policy 'debug 3)",
      `(load ${JSON.stringify(join(await findSwank(), "swank-loader.lisp"))})`,
      "(swank-loader:init)",
      '(format t "~&PORT ~d~%" (swank:create-server :port 0 :dont-close t :style :spawn))',
      "(finish-output)",
    ];
    const lisp = spawn(
      executable,
      ["--noinform", "--no-sysinit", "--no-userinit", ...forms.flatMap((form) => ["--eval", form])],
      { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, HOME: home, XDG_CACHE_HOME: home } },
    );
    try {
      const client = await connect({ port: await announcedPort(lisp.stdout) });
      await stepThrough(client);
      await client.close();
    } finally {
      lisp.kill("SIGKILL");
      await once(lisp, "close");
      await rm(home, { recursive: true, force: true });
    }
  });
});

async function announcedPort(output: NodeJS.ReadableStream): Promise<number> {
  let text = "";
  return new Promise((resolve, reject) => {
    output.on("data", (chunk) => {
      text += String(chunk);
      const port = /PORT (\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    output.on("end", () => reject(new Error("SBCL ended before its Swank server was up.")));
  });
}
