import { expect } from "chai";
import { read, Sources, type types } from "swank-client";
import * as calls from "swank-client/swank";
import { thrown } from "../../support/caught.js";

/** The text from the found place on, with marks of the status. */
function shown(found: types.LocatedSource): string {
  if (found.status !== "found") return `${found.status}: ${found.reason}`;
  const rest = found.source.text.slice(found.offset, found.offset + 12);
  return `${found.line}:${found.column} ${rest.split("\n")[0]}${found.isChanged ? " (changed)" : ""}`;
}

/** Finds a location, as Swank sends it, in a text. */
async function find(text: string, location: string, features?: readonly string[]): Promise<string> {
  const sources = new Sources({ read: async () => text, features });
  return shown(await sources.locate(calls.location(read(location))));
}

const at = (position: string, snippet = "") => `(:location (:file "/a") ${position} ${snippet})`;
const withSnippet = (offset: number, snippet: string) =>
  at(`(:position ${offset})`, `(:snippet ${JSON.stringify(snippet)})`);

const TEXT = `;; 😀
(defun one () 1)
(defmethod area :around ((shape circle) n)
  (list 'a (b "c") (d e)))
(defun two () 2)
(defmethod area ((shape square) n) n)
(defun one-more () 3)`;

describe("Sources", () => {
  it("finds offsets, lines and the end", async () => {
    expect(await find(TEXT, at("(:position 6)"))).to.equal("2:1 (defun one (");
    expect(await find(TEXT, at("(:offset 4 2)"))).to.equal("2:1 (defun one (");
    expect(await find(TEXT, at("(:position nil)"))).to.equal("1:1 ;; 😀");
    expect(await find(TEXT, at("(:line 4 11)"))).to.equal('4:12 (b "c") (d e');
    expect(await find(TEXT, at("(:line 4)"))).to.equal("4:3 (list 'a (b ");
    expect(await find(TEXT, at("(:position 4000)"))).to.equal("7:22 ");
    expect(await find(TEXT, at("(:eof)"))).to.equal("7:22 ");
  });

  it("finds definitions by name, methods by qualifiers and specializers, and forms by their path", async () => {
    expect(await find(TEXT, at('(:function-name "ONE")'))).to.equal("2:1 (defun one (");
    expect(await find(TEXT, at('(:function-name "three")'))).to.equal("1:1 ;; 😀 (changed)");
    expect(await find(TEXT, at('(:method "area" ("square" "t"))'))).to.equal("6:1 (defmethod a");
    expect(await find(TEXT, at('(:method "area" ("circle" "t") ":around")'))).to.equal("3:1 (defmethod a");
    expect(await find(TEXT, at("(:source-path (1 4 2 1) nil)"))).to.equal('4:15 "c") (d e)))');
    expect(await find(TEXT, at("(:source-path (9 4 3) 23)"))).to.equal("4:20 (d e)))");
    expect(await find(TEXT, at("(:source-path (1 4 2 9) nil)"))).to.equal('4:12 (b "c") (d e');
    expect(await find("(unclosed", at("(:source-path (0 1) nil)"))).to.equal("1:1 (unclosed (changed)");
  });

  it("counts the forms that Lisp reads if it knows the features", async () => {
    const text = "#+sbcl (one)\n#-sbcl (two)\n#+ccl (three)\n(four)";
    const second = at("(:source-path (1) nil)");
    expect(await find(text, second)).to.equal("2:1 #-sbcl (two)");
    expect(await find(text, second, ["SBCL", "X86-64"])).to.equal("4:1 (four)");
    expect(await find(text, at("(:source-path (0) nil)"), ["SBCL"])).to.equal("1:8 (one)");
    expect(await find(text, second, ["CCL"])).to.equal("3:7 (three)");
  });

  it("searches for the snippet around the position, as Emacs does", async () => {
    expect(await find(TEXT, withSnippet(1, "(defun two () 2)"))).to.equal("5:1 (defun two (");
    expect(await find(TEXT, withSnippet(150, "(defun one () 1)"))).to.equal("2:1 (defun one (");
    expect(await find(TEXT, withSnippet(1, "(defun TWO "))).to.equal("5:1 (defun two (");
    expect(await find(TEXT, withSnippet(160, "(defmethod area "))).to.equal("6:1 (defmethod a");
    expect(await find(TEXT, withSnippet(40, "(defmethod area "))).to.equal("3:1 (defmethod a");
    expect(await find(TEXT, withSnippet(1, "(defun two () 22)"))).to.equal("5:1 (defun two ( (changed)");
    expect(await find(TEXT, withSnippet(6, "§"))).to.equal("2:1 (defun one ( (changed)");
  });

  it("finds the text of forms and of an editor's buffers", async () => {
    const sources = new Sources({ read: async (place) => (place.kind === "buffer" ? "(buffer)" : undefined) });
    const locate = async (place: types.AnySource) => shown(await sources.locate(place));
    expect(await locate(calls.location(read('(:location (:buffer "b") (:position 1))')))).to.equal("1:1 (buffer)");
    const form = '(:location (:source-form "(𝒳 (#:***HERE*** y))") (:position 1))';
    expect(await locate(calls.location(read(form)))).to.equal("1:6 #:***HERE***");
    expect(await locate({ form: "(f)" })).to.equal("1:1 (f)");
    expect(await locate({ kind: "evaluation", evaluation: "evaluation 1", position: 3, form: "(f)" })).to.equal(
      "1:1 (f)",
    );
  });

  it("returns the reason and the place if there is no text", async () => {
    const sources = new Sources();
    const missing = await sources.locate({ file: "/no/such/file.lisp", line: 7, column: 3 });
    expect(missing).to.deep.include({ status: "unreadable", path: "/no/such/file.lisp", line: 7 });
    expect(missing)
      .to.have.property("reason")
      .that.matches(/^ENOENT: no such file/);
    const zip = await sources.locate(calls.location(read('(:location (:zip "/a.jar" "b.lisp") (:position 1))')));
    expect(shown(zip)).to.equal("unreadable: b.lisp is in the archive /a.jar.");
    expect(zip).to.deep.include({ place: { kind: "archive", path: "/a.jar", entry: "b.lisp" }, line: undefined });
    const buffer = await sources.locate(calls.location(read('(:location (:buffer "b") (:position 1))')));
    expect(shown(buffer)).to.equal("unreadable: The buffer b has no file.");
    const unknown = await sources.locate({ status: "unknown", reason: "Unknown source" });
    expect(unknown).to.deep.equal({ status: "unknown", reason: "Unknown source" });
    const failing = new Sources({ read: () => Promise.reject(new Error("offline")) });
    expect(shown(await failing.locate({ form: "(f)" }))).to.equal("unreadable: offline");
  });

  it("reads each text once", async () => {
    const places: string[] = [];
    const sources = new Sources({
      read: async ({ kind }) => {
        places.push(kind);
        return "(a)";
      },
    });
    const here: types.AnySource = { file: "/a", line: 1, column: 1 };
    await Promise.all([sources.locate(here), sources.locate(here)]);
    expect(places).to.deep.equal(["file"]);
  });

  it("refuses unknown options", () => {
    const options = { raed: async () => "" };
    const error = thrown("INVALID_ARGUMENT", () => Reflect.construct(Sources, [options]));
    expect(error.message).to.equal('Sources has no option "raed". Did you mean "read"?');
  });
});
