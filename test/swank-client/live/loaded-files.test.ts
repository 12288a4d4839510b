import { rm } from "node:fs/promises";
import { expect } from "chai";
import type { SwankClient } from "swank-client";
import { liveImage } from "./live-image.js";
import { evaluate, stopped, values } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

describe("SwankClient.definitions: loaded files", () => {
  const image = liveImage();
  const folder = testFolder();
  let client: SwankClient;
  beforeEach(async () => {
    client = await image.connect();
  });

  /** What is loaded, as `kind name times`, with files relative to the folder. */
  async function loaded(): Promise<string[]> {
    const all = await client.definitions();
    return all.loaded.map(({ kind, name, times }) => `${kind} ${name.replace(`${folder.path}/`, "")} ${times}`);
  }

  const text = (name: string) => JSON.stringify(folder.at(name));

  it("lists all loaded source files and named systems, but not their definitions", async () => {
    await folder.write("inner.lisp", "(defun dl-inner () 1) (defvar *dl-inner* 1)");
    await folder.write("outer.lisp", `(defun dl-outer () 1) (load ${text("inner.lisp")}) (defstruct dl-structure a)`);
    await folder.write("plain.lisp", "1");
    await values(
      client,
      `(defun dl-before () 1) (load ${text("outer.lisp")}) (defun dl-after () 1) (require "sb-md5")
       (progn (defun dl-beside () 1) (mapc #'load (list ${text("outer")} ${text("plain.lisp")})))`,
    );
    const { definitions } = await client.definitions();
    expect(definitions.map(({ name }) => name.replace(/^.*:/, ""))).to.deep.equal([
      "DL-BEFORE",
      "DL-AFTER",
      "DL-BESIDE",
    ]);
    expect((await loaded()).filter((line) => !line.includes("/contrib/"))).to.deep.equal([
      "file outer.lisp 2",
      "file inner.lisp 2",
      "system sb-md5 1",
      "file plain.lisp 1",
    ]);
  });

  it("lists the source of a compiled file that is loaded, and no compiled file without its source", async () => {
    await folder.write("kept [1].lisp", "(defun dl-kept () 1)");
    await folder.write("gone.lisp", "(defun dl-gone () 1)");
    await values(client, `(compile-file (sb-ext:parse-native-namestring ${text("kept [1].lisp")})) nil`);
    await values(client, `(compile-file ${text("gone.lisp")}) nil`);
    await rm(folder.at("gone.lisp"));
    expect(await loaded()).to.deep.equal([]);
    await values(
      client,
      `(load (sb-ext:parse-native-namestring ${text("kept [1].fasl")})) (load ${text("gone.fasl")})`,
    );
    expect(await loaded()).to.deep.equal(["file kept [1].lisp 1"]);
  });

  it("lists the files of a system that ASDF loads, compiled anew or not, and omits its definition", async () => {
    await folder.write("dl-system.asd", '(defsystem "dl-system" :components ((:file "part-1") (:file "part-2")))');
    for (const part of ["part-1", "part-2"]) await folder.write(`${part}.lisp`, "(print 1)");
    const load = `(require "asdf")
      (funcall (intern "LOAD-ASD" "ASDF") ${text("dl-system.asd")})
      (funcall (intern "LOAD-SYSTEM" "ASDF") "dl-system")`;
    await values(client, load);
    const files = ["file part-1.lisp 1", "file part-2.lisp 1"];
    expect((await loaded()).slice(-2)).to.deep.equal(files);
    await values(client, `(funcall (intern "LOAD-SYSTEM" "ASDF") "dl-system" :force t)`);
    expect((await loaded()).slice(-2)).to.deep.equal(["file part-1.lisp 2", "file part-2.lisp 2"]);
    expect((await loaded()).join("\n")).to.not.include(".asd");
  });

  it("lists files that a thread of the code loads, and none that fails to be found", async () => {
    await folder.write("threaded.lisp", "1");
    await values(
      client,
      `(sb-thread:join-thread (sb-thread:make-thread (lambda () (load ${text("threaded.lisp")}))))
       (ignore-errors (load ${text("absent.lisp")})) (load (make-string-input-stream "1"))`,
    );
    expect(await loaded()).to.deep.equal(["file threaded.lisp 1"]);
  });

  it("adds no frame of the program to the stack of a loaded file", async () => {
    await folder.write("failing.lisp", '(error "in a file")');
    const { stop } = stopped(await evaluate(client, `(load ${text("failing.lisp")})`));
    const own = stop.condition.frames.filter(({ kind }) => kind !== "system");
    expect(own.map(({ call }) => call).join("\n"))
      .to.match(/^\(LOAD /m)
      .and.not.match(/^\(SWANK-CLIENT\S*LOAD|ENCAPSULATION/m);
  });
});
