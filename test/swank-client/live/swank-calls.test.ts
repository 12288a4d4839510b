import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { decode, lispFunction, SwankError } from "swank-client";
import * as calls from "swank-client/swank";
import { rejection } from "../../support/caught.js";
import { DEFINITIONS } from "./called-code.js";
import { freshImage, liveClient } from "./live-image.js";
import { values } from "./outcomes.js";
import { testFolder } from "./test-folder.js";

describe("calls: Swank's functions", function () {
  this.timeout(120_000);
  const image = liveClient();
  const folder = testFolder();

  beforeEach(() => image.values(DEFINITIONS));

  async function code(promise: Promise<unknown>): Promise<string> {
    return promise.then(
      () => "no error",
      (error: unknown) => (error instanceof SwankError ? error.code : String(error)),
    );
  }

  it("evaluate the first form of a source: evalAndGrabOutput", async () => {
    const { evalAndGrabOutput } = calls.evaluation;
    const printed = { stdout: "out", values: '1\n:TWO\n"three"' };
    expect(await image.run(evalAndGrabOutput, '(progn (princ "out") (values 1 :two "three"))')).to.deep.equal(printed);
    expect(await image.run(evalAndGrabOutput, "(values) (+ 1 2)")).to.deep.equal({ stdout: "", values: "" });
  });

  it("evaluate for people: interactiveEval, interactiveEvalRegion, pprintEval", async () => {
    expect(await image.run(calls.evaluation.interactiveEval, "(+ 3 4)")).to.match(/^=> 7 \(3 bits/);
    expect(await image.run(calls.evaluation.interactiveEvalRegion, "1 (+ 3 4)")).to.match(/^=> 7 \(3 bits/);
    expect(await image.run(calls.evaluation.pprintEval, "(print 1)")).to.match(/^\s*1\s+1\s*$/);
  });

  it("edit values and definitions: reEvaluateDefvar, valueForEditing, commitEditedValue, undefineFunction, uninternSymbol", async () => {
    expect(await image.run(calls.evaluation.reEvaluateDefvar, "(defvar cl-user::*sc-value* 3)")).to.match(
      /\*SC-VALUE\*$/,
    );
    expect(await image.run(calls.evaluation.valueForEditing, "cl-user::*sc-value*")).to.equal("3");
    await image.run(calls.evaluation.commitEditedValue, "cl-user::*sc-value*", "42");
    expect(await image.values("*sc-value*")).to.deep.equal(["42"]);
    expect(await image.run(calls.evaluation.undefineFunction, "cl-user::sc-caller")).to.match(/SC-CALLER$/);
    expect(await image.run(calls.evaluation.uninternSymbol, "SC-CALLER", "CL-USER")).to.equal(
      "Uninterned symbol: #:SC-CALLER",
    );
  });

  it("set and tell what all clients share: package, directory, indentation, threads, processStart", async () => {
    const package_ = await image.run(calls.evaluation.setPackage, "CL-USER");
    expect(package_).to.deep.equal({ name: "COMMON-LISP-USER", prompt: "CL-USER" });
    expect(await image.run(calls.image.setDefaultDirectory, `${folder.path}/`)).to.equal(`${folder.path}/`);
    expect(await image.run(calls.image.defaultDirectory)).to.equal(`${folder.path}/`);
    expect(await image.run(calls.image.updateIndentationInformation)).to.equal(undefined);
    const threads = await image.run(calls.image.listThreads);
    expect(threads.find(({ name }) => name === "reader-thread")?.id).to.be.a("number");
    expect(threads.every(({ status }) => status !== "")).to.equal(true);
    const start = await image.run(calls.image.processStart);
    expect(start === undefined ? process.platform : "linux").to.equal(process.platform);
    expect(await image.run(calls.image.processStart)).to.equal(start);
  });

  it("are a REPL: createRepl, listenerEval, listenerSaveValue, listenerGetValue, clearReplVariables, createMrepl", async () => {
    const results: string[] = [];
    image.client.connection.on("event", (message) => {
      if (message.type === "write-string") results.push(message.text);
    });
    expect(await image.run(calls.repl.createRepl)).to.deep.equal({
      name: "COMMON-LISP-USER",
      prompt: "CL-USER",
    });
    await image.run(calls.repl.listenerEval, "(cl:+ 1 2)");
    expect(results.join("")).to.match(/^3\s/);
    await image.run(calls.repl.listenerSaveValue, "cl:identity", "kept");
    await image.run(calls.repl.listenerGetValue);
    expect(results.join("")).to.include("kept");
    await image.run(calls.repl.clearReplVariables);
    const { channel, prompt } = await image.run(calls.repl.createMrepl, 1);
    expect([channel, prompt]).to.deep.equal([1, "CL-USER"]);
  });

  it("compile text with notes and positions: compileStringForEmacs, compileMultipleStringsForEmacs", async () => {
    const origin = { buffer: "notes", position: 100, line: 7 };
    const compiled = await image.run(calls.compiling.compileStringForEmacs, "(defun sc-bad () (car 1))", origin, {
      debug: 3,
    });
    expect(compiled).to.include({ succeeded: false }).and.not.have.property("fasl");
    const note = compiled.notes.find(({ severity }) => severity === "warning");
    expect(note?.message).to.match(/LIST/);
    if (note?.location.status !== "found") throw new Error("The note has no place.");
    expect(note.location.place).to.include({ kind: "buffer", name: "notes" });
    expect(note.location.position).to.have.property("offset").that.is.at.least(100);
    const unbalanced = await image.run(calls.compiling.compileStringForEmacs, "(defun sc-bad () (car 1)", {
      buffer: "b",
    });
    expect([unbalanced.succeeded, unbalanced.notes[0]?.severity]).to.deep.equal([false, "read-error"]);
    const texts = [{ code: "(defun sc-one () 1)", buffer: "x", package: "CL-USER" }];
    const [one] = await image.run(calls.compiling.compileMultipleStringsForEmacs, texts);
    expect(one?.succeeded).to.equal(true);
    expect(await image.values("(sc-one)")).to.deep.equal(["1"]);
  });

  it("compile and load files: compileFileForEmacs, compileFileIfNeeded, loadFile", async () => {
    const file = await folder.write("f.lisp", "(defun cl-user::sc-from-file () (cl-user::sc-undefined))\n");
    const options = { load: true, policy: { speed: 1 }, faslFolder: `${folder.path}/` };
    const compiled = await image.run(calls.compiling.compileFileForEmacs, file, options);
    expect(compiled).to.include({ succeeded: true, isToLoad: true, fasl: folder.at("f.fasl") });
    expect(compiled.notes.map(({ severity }) => severity)).to.deep.equal(["style-warning"]);
    expect(await code(image.client.eval("(sc-from-file)"))).to.equal("LISP_ERROR");
    expect(await image.run(calls.evaluation.loadFile, folder.at("f.fasl"))).to.equal("T");
    expect((await image.run(calls.compiling.compileFileIfNeeded, file))?.succeeded).to.equal(true);
  });

  it("expand macros: once, fully and everywhere, compiler macros, format strings, macrostep", async () => {
    const form = "(cl-user::sc-twice (cl:when 1 2))";
    for (const expand of [
      calls.expanding.swankMacroexpand1,
      calls.expanding.swankMacroexpand,
      calls.expanding.swankExpand1,
      calls.expanding.swankExpand,
    ])
      expect(await image.run(expand, form)).to.match(/^\(PROGN \(WHEN 1 2\) \(WHEN 1 2\)\)$/);
    expect(await image.run(calls.expanding.swankMacroexpandAll, form)).to.match(/^\(PROGN\s+\(IF 1\s+2\)/);
    for (const expand of [calls.expanding.swankCompilerMacroexpand1, calls.expanding.swankCompilerMacroexpand])
      expect(await image.run(expand, form)).to.match(/SC-TWICE \(WHEN 1 2\)\)$/);
    expect(await image.run(calls.expanding.swankFormatStringExpand, '"~a"')).to.include("PRINC");
    expect(await image.run(calls.compiling.disassembleForm, "'cl-user::sc-add")).to.match(
      /^; disassembly for .*SC-ADD/,
    );
    const step = await image.run(calls.expanding.macrostepExpand1, form);
    expect(step).to.include({ status: "expanded", text: "(PROGN (WHEN 1 2) (WHEN 1 2))" });
    expect(await image.run(calls.expanding.macrostepExpand1, "(cl:car 1)")).to.include({ status: "failed" });
    expect(await image.run(calls.expanding.macroFormP, form)).to.deep.equal({ kind: "macro" });
    expect(await image.run(calls.expanding.macroFormP, "(cl:car 1)")).to.deep.equal({ kind: undefined });
  });

  it("find definitions and their uses: findDefinitionsForEmacs, findSourceLocationForEmacs, xref, xrefs", async () => {
    const [definition] = await image.run(calls.definitions.findDefinitionsForEmacs, "cl-user::sc-add");
    expect(definition?.name).to.match(/^\(DEFUN .*SC-ADD\)$/);
    expect(definition?.location.status).to.equal("found");
    expect(await image.run(calls.definitions.findDefinitionsForEmacs, "sc-no-such-name")).to.deep.equal([]);
    const place = await image.run(calls.definitions.findSourceLocationForEmacs, "#'sc-add", "CL-USER");
    expect(place.status).to.equal("found");
    const users = await image.run(calls.definitions.xref, "calls", "cl-user::sc-add");
    expect(users?.map(({ name }) => name)).to.deep.equal(["SC-CALLER"]);
    expect(await image.run(calls.definitions.xref, "calls-who", "cl-user::sc-add")).to.equal(undefined);
    const groups = await image.run(calls.definitions.xrefs, ["calls", "macroexpands"], "cl-user::sc-add");
    expect(groups.map(({ kind, places }) => [kind, places.length])).to.deep.equal([["calls", 1]]);
  });

  it("describe: describeSymbol, describeFunction, documentationSymbol, describeDefinitionForEmacs", async () => {
    const name = "cl-user::sc-add";
    expect(await image.run(calls.definitions.describeSymbol, name)).to.include("Adds.");
    expect(await image.run(calls.definitions.describeFunction, name)).to.include("Lambda-list: (X &OPTIONAL (Y 2))");
    expect(await image.run(calls.definitions.documentationSymbol, name)).to.include("Adds.");
    expect(await image.run(calls.definitions.hyperdoc, name)).to.deep.equal([]);
    const arglist = await image.run(calls.definitions.operatorArglist, "cl:mapcar", "CL-USER");
    expect(arglist?.toLowerCase()).to.equal("(cl:mapcar function list &rest more-lists)");
    expect(await image.run(calls.definitions.operatorArglist, "no-such-function", "CL-USER")).to.equal(undefined);
    expect(await image.run(calls.definitions.describeDefinitionForEmacs, name, "function")).to.include("Adds.");
    expect(await code(image.run(calls.definitions.describeSymbol, "sc-no-such-name"))).to.equal("REQUEST_FAILED");
  });

  it("search: aproposListForEmacs, mop", async () => {
    const found = await image.run(calls.definitions.aproposListForEmacs, "sc-a", {
      externalOnly: false,
      package: "CL-USER",
    });
    const add = found.find(({ designator }) => designator.endsWith("SC-ADD"));
    expect(add?.meanings).to.deep.equal({ function: "Adds." });
    const animal = found.find(({ designator }) => designator.endsWith("SC-ANIMAL"));
    expect(Object.keys(animal?.meanings ?? {})).to.include("type");
    expect(await image.run(calls.definitions.aproposListForEmacs, "sc-no-such-name")).to.deep.equal([]);
    expect(await image.run(calls.definitions.mop, "subclasses", "cl-user::sc-animal")).to.deep.equal(["SC-DOG"]);
    expect(await image.run(calls.definitions.mop, "superclasses", "cl-user::sc-dog")).to.deep.equal(["SC-ANIMAL"]);
    expect(await image.run(calls.definitions.mop, "subclasses", "cl-user::sc-dog")).to.deep.equal([]);
  });

  it("complete: simple, compound, characters, keywords, fuzzy; arglists: autodoc, completeForm", async () => {
    const compound = await image.run(calls.completion.completions, "m-v-b", "CL-USER");
    expect(compound).to.deep.equal({ names: ["multiple-value-bind"], longest: "multiple-value-bind" });
    expect((await image.run(calls.completion.completions, "sc-zzz", "CL-USER")).names).to.deep.equal([]);
    expect((await image.run(calls.completion.completionsForCharacter, "Spac")).names).to.deep.equal(["Space"]);
    const keywords = await image.run(calls.completion.completionsForKeyword, ":t", ["find", "1", "x", null]);
    expect(keywords?.names).to.deep.equal([":test", ":test-not"]);
    const fuzzy = await image.run(calls.completion.fuzzyCompletions, "mvb", "CL-USER", { limit: 3 });
    expect(fuzzy.completions[0]).to.include({ name: "multiple-value-bind" });
    expect(fuzzy.completions[0]?.score ?? 1).to.be.greaterThan(0);
    expect(fuzzy.completions[0]?.flags).to.match(/^[-a-z]{8,}$/);
    expect(fuzzy.completions[0]?.chunks.map(({ text }) => text)).to.deep.equal(["m", "v", "b"]);
    expect(fuzzy.isTimedOut).to.equal(false);
    const arglist = await image.run(calls.completion.autodoc, ["mapcar", "f", null]);
    expect(arglist).to.equal("(mapcar ===> function <=== list &rest more-lists)");
    expect(await image.run(calls.completion.autodoc, ["sc-no-such-name", null])).to.equal(undefined);
    expect(await image.run(calls.completion.completeForm, ["find", null])).to.match(
      /^item sequence :from-end from-end/,
    );
    expect(await image.run(calls.completion.completeForm, ["sc-no-such-name", null])).to.equal(undefined);
  });

  it("inspect objects, part by part and back, until quitInspector", async () => {
    // A title holds the address of its object, which a garbage collection changes.
    const shown = (inspected: { title: string } | undefined) => inspected?.title.replace(/\{\w+\}/, "{}");
    const first = await image.run(calls.inspecting.initInspector, '(vector "one" (list 2 3))');
    const values_ = first?.parts.flatMap((part) => (part.kind === "value" ? [part] : [])) ?? [];
    expect(values_.map(({ text }) => text)).to.include.members(['"one"', "(2 3)"]);
    const list = values_.find(({ text }) => text === "(2 3)");
    const inner = await image.run(calls.inspecting.inspectNthPart, list?.index ?? -1);
    expect(shown(inner)).to.equal("#<CONS {}>");
    expect(shown(first)).not.to.equal(shown(inner));
    expect(await image.run(calls.inspecting.inspectorEval, "(cl:first cl:*)")).to.equal("2");
    expect(shown(await image.run(calls.inspecting.inspectorPop))).to.equal(shown(first));
    expect(await image.run(calls.inspecting.inspectorPop)).to.equal(undefined);
    expect(shown(await image.run(calls.inspecting.inspectorNext))).to.equal(shown(inner));
    expect(await image.run(calls.inspecting.inspectorNext)).to.equal(undefined);
    expect(shown(await image.run(calls.inspecting.inspectorReinspect))).to.equal(shown(inner));
    expect((await image.run(calls.inspecting.inspectorRange, 0, 2)).parts).to.have.length(2);
    expect(await image.run(calls.inspecting.inspectorHistory)).to.include("next/prev chain");
    expect(await image.run(calls.inspecting.describeInspectee)).to.match(/\(2 3\)/);
    expect(await image.run(calls.inspecting.pprintInspectorPart, 0)).to.include("(2 3)");
    expect(await image.run(calls.inspecting.inspectorToggleVerbose)).to.have.property("parts");
    const table = await image.run(
      calls.inspecting.initInspector,
      "(let ((h (make-hash-table))) (setf (gethash 1 h) 2) h)",
    );
    const action = table?.parts.find((part) => part.kind === "action");
    if (action?.kind !== "action") throw new Error("A hash table has actions.");
    expect(await image.run(calls.inspecting.inspectorCallNthAction, action.index)).to.have.property("title");
    await image.run(calls.inspecting.quitInspector);
    expect(await code(image.run(calls.inspecting.inspectNthPart, 1))).to.equal("REQUEST_FAILED");
  });

  it("manage packages: listAllPackageNames, swankDeletePackage, exports", async () => {
    await image.values("(defpackage :sc-gone (:nicknames :sc-nick) (:use :cl)) (defstruct sc-point x)");
    expect(await image.run(calls.packages.listAllPackageNames))
      .to.include("SC-GONE")
      .and.not.include("SC-NICK");
    expect(await image.run(calls.packages.listAllPackageNames, true)).to.include("SC-NICK");
    expect(await image.run(calls.packages.exportSymbolForEmacs, "sc-new", "SC-GONE")).to.equal(true);
    expect(await image.run(calls.packages.unexportSymbolForEmacs, "sc-new", "SC-GONE")).to.equal(true);
    await image.run(calls.packages.swankDeletePackage, "SC-GONE");
    expect(await image.run(calls.packages.listAllPackageNames)).to.not.include("SC-GONE");
    expect(await code(image.run(calls.packages.swankDeletePackage, "SC-GONE"))).to.equal("REQUEST_FAILED");
    const exported = await image.run(calls.packages.exportStructure, "sc-point", "CL-USER");
    expect(exported).to.include.members(["MAKE-SC-POINT", "SC-POINT-X"]);
  });

  it("operate on systems: ASDF's, and Quicklisp's where it is loaded", async () => {
    const system = folder.at("sc-system");
    await mkdir(system);
    await writeFile(join(system, "sc-system.asd"), '(asdf:defsystem "sc-system" :components ((:file "a")))');
    await writeFile(join(system, "a.lisp"), "(defun cl-user::sc-in-a () 1)");
    await image.values(`(require :asdf)`);
    await image.values(`(push #p"${system}/" asdf:*central-registry*)`);
    expect((await image.run(calls.systems.operateOnSystemForEmacs, "sc-system")).succeeded).to.equal(true);
    expect(await image.run(calls.systems.listAsdfSystems)).to.include("sc-system");
    expect(await image.run(calls.systems.listAllSystemsInCentralRegistry)).to.include("sc-system");
    expect(await image.run(calls.systems.asdfSystemFiles, "sc-system")).to.include(join(system, "a.lisp"));
    expect(await image.run(calls.systems.asdfSystemLoadedP, "sc-system")).to.equal(true);
    expect(await image.run(calls.systems.asdfSystemDirectory, "sc-system")).to.equal(`${system}/`);
    expect(await image.run(calls.systems.asdfDetermineSystem, join(system, "a.lisp"), "CL-USER")).to.equal("sc-system");
    expect((await image.run(calls.systems.reloadSystem, "sc-system")).succeeded).to.equal(true);
    expect(await image.run(calls.systems.whoDependsOn, "sc-system")).to.deep.equal([]);
    expect(await image.run(calls.systems.deleteSystemFasls, "sc-system")).to.equal("1 file was removed");
    expect(await code(image.run(calls.systems.listQuicklispSystems))).to.equal("REQUEST_FAILED");
  });

  it("that wait for a contrib end with their signal or timeout, and others get the contrib", async () => {
    const file = await folder.write("late-contrib.lisp", "(cl:provide :late-contrib)");
    await image.client.eval(`(let ((found swank::*find-module*))
      (defvar *gate* (sb-thread:make-semaphore))
      (setf swank::*find-module* (lambda (module)
        (setf swank::*find-module* found)
        (sb-thread:wait-on-semaphore *gate*)
        (if (eq module :late-contrib) "${file}" (funcall found module)))))`);
    const late = lispFunction({ name: "cl:lisp-implementation-type", contrib: "late-contrib", decode: decode.string });
    const controller = new AbortController();
    const cancelled = code(image.client.lisp.with({ signal: controller.signal }).run(late));
    const patient = image.run(late);
    controller.abort();
    expect(await cancelled).to.equal("CANCELLED");
    expect(await code(image.client.lisp.with({ timeout: 10 }).run(late))).to.equal("REQUEST_TIMEOUT");
    await image.client.eval("(sb-thread:signal-semaphore *gate*)");
    expect(await patient).to.equal("SBCL");
  });

  it("that the image's Swank does not have are refused with what works instead", async () => {
    const instead = "Something else works.";
    const missing = lispFunction({ name: "swank:no-such-call", instead, decode: decode.any });
    const error = await rejection(image.run(missing), "NOT_SUPPORTED");
    expect(error.message).to.match(/^swank:no-such-call: Swank in SBCL \S+ does not have this function\.$/);
    expect(error).to.deep.include({ remedy: instead });
    expect(error.details).to.have.property("operation", "swank:no-such-call");
  });

  it("that need a missing contrib are refused, and nothing is disturbed", async () => {
    const missing = lispFunction({ name: "swank:no-such-call", contrib: "swank-no-such-contrib", decode: decode.any });
    expect(await code(image.run(missing))).to.equal("CONTRIB_MISSING");
    expect(await code(image.run(missing))).to.equal("CONTRIB_MISSING");
    expect(image.client.stops).to.deep.equal([]);
    expect(await image.client.eval("1")).to.deep.equal(["1"]);
  });
});

describe("calls.image.quitLisp", () => {
  const image = freshImage();

  it("ends the image", async () => {
    const lisp = await image.connect();
    await lisp.run(calls.image.quitLisp).catch(() => undefined);
    expect((await lisp.closed).code).to.equal("CONNECTION_LOST");
  });

  it("ends the image when a request comes while SBCL waits for a finalizer", async () => {
    const lisp = await image.connect();
    await values(
      lisp,
      `(defvar *finalizing* nil)
(loop until *finalizing*
      do (loop repeat 100 do (sb-ext:finalize (list 1) (lambda () (unless (shiftf *finalizing* t) (sleep 2))) :dont-save t))
         (sb-ext:gc :full t)
         (sleep 1/20))`,
    );
    const requests: Promise<unknown>[] = [lisp.run(calls.image.quitLisp)];
    const more = setInterval(() => requests.push(lisp.run(calls.evaluation.interactiveEval, "1")), 20);
    expect((await lisp.closed).code).to.equal("CONNECTION_LOST");
    clearInterval(more);
    await Promise.allSettled(requests);
  });
});
