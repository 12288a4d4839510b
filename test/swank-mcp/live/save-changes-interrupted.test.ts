import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { liveFolder } from "../../support/live-server.js";
import { blocks } from "../../support/mcp-results.js";
import { McpStdio } from "../../support/mcp-stdio.js";

const OLD = "(defun price (cart)\n  (* 2 cart))\n";
const NEW = "(defun price (cart)\n  (* 3 cart))\n";
const EARLIER = new Date(Date.now() - 60_000);

/** Lisp code that runs a form between the writing of a draft and its renaming. */
function beforeRenaming(form: string): string {
  return `(sb-int:encapsulate
    (find-symbol "WRITE-DRAFT-OF"
                 (find-if (lambda (package) (eql 0 (search "SWANK-CLIENT/CHANGES" (package-name package)))) (list-all-packages)))
    'before-renaming
    (lambda (write-draft &rest arguments) (apply write-draft arguments) ${form}))`;
}

describe("save-changes that is interrupted", () => {
  const folder = liveFolder("save changes", { each: true });
  const file = join(folder, "toll.lisp");
  beforeEach(async () => {
    await writeFile(file, OLD);
    await utimes(file, EARLIER, EARLIER);
  });

  /** Loads the file, redefines its function, and makes a form run before the draft is renamed. */
  async function prepare(server: McpStdio, form = ":nothing"): Promise<void> {
    await server.evaluate(`(load ${JSON.stringify(file)}) ${NEW}`);
    await save(server, true);
    await server.evaluate(beforeRenaming(form));
  }

  async function save(server: McpStdio, dryRun = false): Promise<string> {
    return blocks(await server.call("save-changes", { "dry-run": dryRun })).join("\n");
  }

  it("keeps the old text when the image is killed, and deletes the draft in the next call", async () => {
    const server = await McpStdio.start();
    await prepare(server, "(sb-posix:kill (sb-posix:getpid) sb-posix:sigkill)");
    expect((await server.call("save-changes", { "dry-run": false })).isError).to.equal(true);
    expect(await readFile(file, "utf8")).to.equal(OLD);
    expect(await readdir(folder)).to.have.length(2);
    // Neither the draft of a running process nor a file of a similar name is such a draft.
    const others = [
      `toll.lisp.${process.pid}-A1.tmp`,
      "toll.lisp.1.tmp",
      "toll.lisp.99999999-.tmp",
      "other.lisp.99999999-A.tmp",
    ];
    for (const name of others) await writeFile(join(folder, name), "");
    await server.evaluate("1");
    await prepare(server);
    expect(await save(server)).to.match(/toll\.lisp:1:1: written/);
    expect(await readFile(file, "utf8")).to.equal(NEW);
    expect(await readdir(folder)).to.have.members([...others, "toll.lisp"]);
    await server.end();
  });

  it("keeps the old text and leaves no draft when the server is killed", async () => {
    const owner = await McpStdio.start();
    const [port = ""] = await owner.evaluate("(swank:create-server :port 0 :dont-close t)");
    const server = await McpStdio.start(["--attach", port.replace("=> ", "")]);
    await prepare(server, "(progn (setf (get 'drafts 'waits) t) (loop (sleep 0.01)))");
    const call = server.startCall("save-changes", { "dry-run": false });
    call.result.catch(() => undefined);
    while ((await owner.evaluate("(get 'drafts 'waits)"))[0] !== "=> T");
    expect(await readdir(folder)).to.have.length(2);
    server.process.kill("SIGKILL");
    await server.exited;
    while ((await readdir(folder)).length > 1);
    expect(await readFile(file, "utf8")).to.equal(OLD);
    await owner.end();
  });

  const changes: readonly { how: string; form: string; texts: readonly string[] }[] = [
    {
      how: "is written with the same size and time",
      form: `(let ((stat (sb-posix:stat *file*)))
        (with-open-file (stream *file* :direction :output :if-exists :overwrite) (write-string *other* stream))
        (sb-posix:utimes *file* (sb-posix:stat-atime stat) (sb-posix:stat-mtime stat)))`,
      texts: [OLD.replace("2", "4")],
    },
    {
      how: "is replaced by another file",
      form: `(let ((new (format nil "~a.new" *file*)))
        (with-open-file (stream new :direction :output) (write-string *old* stream))
        (sb-posix:rename new *file*))`,
      texts: [OLD],
    },
    { how: "is deleted", form: "(delete-file *file*)", texts: [] },
  ];

  for (const { how, form, texts } of changes)
    it(`refuses a file that ${how} while the new text is written`, async () => {
      const server = await McpStdio.start();
      await server.evaluate(`(require "sb-posix") (defparameter *file* ${JSON.stringify(file)})
        (defparameter *old* "${OLD}") (defparameter *other* (substitute #\\4 #\\2 *old*))`);
      await prepare(server, form);
      expect(await save(server)).to.match(/: not written: /);
      const found = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
      expect(found).to.deep.equal(texts);
      await server.end();
    });
});
