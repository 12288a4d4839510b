import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ImageHost, openSession, Refusal, readConfig } from "swank-mcp";
import { liveFolder } from "../../support/live-server.js";
import { McpStdio } from "../../support/mcp-stdio.js";
import { ENVIRONMENT } from "../../support/server-process.js";

describe("launch notes", () => {
  const folder = liveFolder("swank-mcp-launching");

  it("come with the first answer if a file of --load is missing or fails to load", async () => {
    const missing = join(folder, "missing.lisp");
    const broken = join(folder, "broken.lisp");
    await writeFile(broken, '(defvar *begun* t)\n(error "no further")\n(defvar *done* t)\n');
    const server = await McpStdio.start(["--load", missing, "--load", broken]);
    const [values, remarks] = await server.evaluate("(list *begun* (boundp '*done*))");
    expect(values).to.equal("=> (T NIL)");
    expect(remarks?.split("\n").slice(0, 2)).to.deep.equal([
      `${missing} was not loaded: there is no such file. Check --load.`,
      `${broken} was only partly loaded: no further [SIMPLE-ERROR]`,
    ]);
    expect(await server.evaluate("1")).to.deep.equal(["=> 1"]);
    await server.end();
  });

  it("are none if a file of --load defines a reader macro, which evaluations then read", async () => {
    const file = join(folder, "reader.lisp");
    await writeFile(file, "(set-dispatch-macro-character #\\# #\\h (lambda (s c n) (list c n (read s)) 42))\n");
    const server = await McpStdio.start(["--load", file]);
    expect(await server.evaluate("#h1")).to.deep.equal(["=> 42"]);
    await server.end();
  });

  it("are in lisp-status if nothing can be cached", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const server = await McpStdio.start(["--cache-dir", join(file, "cache")], { TMPDIR: file });
    const { structuredContent } = await server.call("lisp-status");
    expect(structuredContent?.["notes"]).to.deep.equal([
      `No files can be kept between launches: ${join(file, "cache")} cannot be used: ${file}, which leads to it, is not a folder.`,
    ]);
    await server.end();
  });
});

describe("launch with --dynamic-space-size", () => {
  it("starts an image with a heap of that size", async () => {
    const server = await McpStdio.start(["--dynamic-space-size", "1500"]);
    expect(await server.evaluate("(floor (sb-ext:dynamic-space-size) (expt 2 20))")).to.deep.equal(["=> 1500\n=> 0"]);
    await server.end();
  });
});

describe("launch that fails", () => {
  const folder = liveFolder("swank-mcp-failing");

  async function file(name: string, text: string, mode = 0o600): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text, { mode });
    return path;
  }

  async function failure(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const server = await McpStdio.start(args, env);
    try {
      const { isError, content } = await server.call("evaluate-lisp", { code: "1" });
      expect(isError).to.equal(true);
      return content.map((block) => ("text" in block ? String(block.text) : "")).join("\n");
    } finally {
      await server.end();
    }
  }

  const endings: Record<string, readonly [form: string, how: string]> = {
    "an exit code": ["(sb-ext:exit :code 3)", "exit code 3"],
    "an exit without unwinding": ["(finish-output) (sb-ext:exit :code 5 :abort t)", "exit code 5"],
    "an error with the debugger disabled": ['(sb-ext:disable-debugger) (error "gone")', "exit code 1"],
  };
  for (const [what, [form, how]] of Object.entries(endings)) {
    it(`names the file of --load that ends the image by ${what}, the exit code, and the way out`, async () => {
      const path = await file("ending.lisp", `(format t "No licence found.~%")\n${form}\n`);
      const text = await failure(["--load", path]);
      expect(text).to.include(`${path} ended the image while it was loaded: ${how}. Lisp printed:\n`);
      expect(text).to.match(/No licence found\.|gone/);
      expect(text).to.include(`or restart swank-mcp without --load ${path}.`);
    });
  }

  it("names the user's init file that ends the image", async () => {
    const path = await file(".sbclrc", "(exit :code 7)");
    expect(await failure([], { HOME: folder, SWANK_MCP_NO_USER_INIT: "" })).to.equal(
      `${path} ended the image while it was loaded: exit code 7. It printed nothing.\nRemove the form that ends Lisp, such as (exit), from ${path} and call again, or restart swank-mcp with --no-user-init.`,
    );
    await rm(path);
  });

  it("is an answer before hosts give up if a file does not end", async () => {
    const path = await file("endless.lisp", "(loop (sleep 1))");
    const { SWANK_MCP_CACHE_DIR } = ENVIRONMENT;
    const config = readConfig(["--load", path, "--cache-dir", SWANK_MCP_CACHE_DIR, "--no-user-init"], {});
    const host = new ImageHost(
      openSession(config, () => undefined),
      1,
    );
    const failed = await host.session(new AbortController().signal).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Refusal).and.have.property("code", "START_FAILED");
    expect(failed).to.have.property("message").that.includes(`it has been loading ${path} for `);
    expect(failed)
      .to.have.property("remedy")
      .that.matches(/^Call again to wait longer\. If the file never ends, correct it, then restart/);
    await host.close();
  });

  it("names a relative HOME", async () => {
    expect(await failure([], { HOME: "h/me" })).to.match(
      /^The environment variable HOME is h\/me, but Lisp needs an absolute path\.\nSet HOME to the absolute path/,
    );
  });

  it("repeats what an sbcl that cannot be used printed", async () => {
    const path = await file("broken-sbcl", "#!/bin/sh\necho 'sbcl: cannot open libzstd.so.1' >&2\nexit 127\n", 0o700);
    expect(await failure(["--lisp", path])).to.include(
      `${path} cannot be used: running it as SBCL failed (exit code 127). Lisp printed:\nsbcl: cannot open libzstd.so.1\n`,
    );
  });
});
