import { readdir } from "node:fs/promises";
import { expect } from "chai";
import { Sources, type SwankClient, type types } from "swank-client";
import { compileFile } from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { liveImage } from "./live-image.js";
import { testFolder } from "./test-folder.js";

const severities = (notes: readonly types.CompilerNote[]): readonly types.Severity[] =>
  notes.map(({ severity }) => severity);

describe("compileFile", () => {
  const image = liveImage();
  let lisp: SwankClient;
  beforeEach(async () => {
    lisp = await image.connect();
  });
  const folder = testFolder();

  it("compiles a file, and loads it on request", async () => {
    const path = await folder.write("f.lisp", "(defun cl-user::cf-one () 1)\n");
    const how: types.FileCompilation & types.CompileFileOptions = {
      faslFolder: `${folder.path}/`,
      policy: { debug: 3 },
    };
    const compiled = await compileFile(lisp.lisp, path, how);
    expect(compiled).to.deep.include({ succeeded: true, notes: [], isLoaded: false, fasl: folder.at("f.fasl") });
    expect(await lisp.eval("(fboundp 'cl-user::cf-one)")).to.deep.equal(["NIL"]);
    expect(await compileFile(lisp.lisp, path, { load: true })).to.include({ isLoaded: true, loadError: undefined });
    expect(await lisp.eval("(cl-user::cf-one)")).to.deep.equal(["1"]);
    expect(await readdir(folder.path)).to.include("f.fasl");
  });

  it("loads a file with warnings only if it must always be loaded", async () => {
    const path = await folder.write("f.lisp", ";; 😀\n(defun cl-user::cf-two () (car 1) 2)\n");
    const compiled = await compileFile(lisp.lisp, path, { load: true });
    expect(compiled).to.include({ succeeded: false, isLoaded: false });
    const [note] = compiled.notes;
    const found = await new Sources().locate(note?.location ?? { status: "unknown", reason: "no note" });
    expect(found).to.include({ status: "found", path, line: 2, column: 27 });
    expect(await compileFile(lisp.lisp, path, { load: "always" })).to.include({ succeeded: false, isLoaded: true });
    expect(await lisp.eval("(fboundp 'cl-user::cf-two)")).to.not.deep.equal(["NIL"]);
  });

  it("returns the notes and the error of a file that fails while it is loaded", async () => {
    const path = await folder.write("f.lisp", '(defun cl-user::cf-three (x) 3)\n(error "at load")\n');
    const { notes, isLoaded, loadError } = await compileFile(lisp.lisp, path, { load: true });
    expect([severities(notes), isLoaded]).to.deep.equal([["style-warning"], false]);
    expect(loadError?.message).to.include("at load");
    expect(lisp.stops).to.deep.equal([]);
  });

  it("refuses files that do not exist and unknown options, and is cancelled", async () => {
    await rejection(compileFile(lisp.lisp, folder.at("none.lisp")), "REQUEST_FAILED");
    const misspelt = { load: true, lod: true };
    const error = await rejection(compileFile(lisp.lisp, folder.at("f.lisp"), misspelt), "INVALID_ARGUMENT");
    expect(error.message).to.equal('compileFile has no option "lod". Did you mean "load"?');
    const path = await folder.write("f.lisp", "(eval-when (:compile-toplevel) (loop (sleep 1/50)))\n");
    const ending = new AbortController();
    const compiling = compileFile(lisp.lisp, path, { signal: ending.signal });
    ending.abort();
    await rejection(compiling, "CANCELLED");
  });
});
