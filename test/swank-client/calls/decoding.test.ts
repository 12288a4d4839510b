import { expect } from "chai";
import { DecodeError, read } from "sexp-parser";
import * as calls from "swank-client/swank";

type Found = Extract<calls.SourceLocation, { status: "found" }>;

const FILE: Found["place"] = { kind: "file", path: "/a" };

function found(place: Found["place"], position: Found["position"], snippet?: string): Found {
  return { status: "found", place, position, snippet };
}

const METHOD: Found["position"] = { kind: "method", name: "m", specializers: ["t", "list"], qualifiers: [":around"] };

/** Locations inside `(:location ...)`, as Swank sends them. */
const LOCATIONS: readonly (readonly [text: string, location: Found])[] = [
  ['(:file "/a") (:position 241) (:snippet "(f ")', found(FILE, { kind: "offset", offset: 241 }, "(f ")],
  ['(:file "/a") (:position 1) nil', found(FILE, { kind: "offset", offset: 1 })],
  [
    '(:buffer "b.lisp") (:offset 100 5) ((:snippet "x"))',
    found({ kind: "buffer", name: "b.lisp", path: undefined }, { kind: "offset", offset: 105 }, "x"),
  ],
  [
    '(:buffer-and-file "b.lisp" "/b.lisp") (:line 3 4)',
    found({ kind: "buffer", name: "b.lisp", path: "/b.lisp" }, { kind: "line", line: 3, column: 4 }),
  ],
  [
    '(:source-form "(f (#:***HERE*** (g)))") (:line 3) (:edit-path nil)',
    found({ kind: "form", text: "(f (#:***HERE*** (g)))" }, { kind: "line", line: 3, column: undefined }),
  ],
  [
    '(:zip "/x.jar" "a.lisp") (:function-name "f") odd',
    found({ kind: "archive", path: "/x.jar", entry: "a.lisp" }, { kind: "function", name: "f" }),
  ],
  ['(:file "/a") (:method "m" ("t" "list") ":around") nil', found(FILE, METHOD)],
  ['(:file "/a") (:source-path (0 2 1) 17) nil', found(FILE, { kind: "path", path: [0, 2, 1], offset: 17 })],
  ['(:file "/a") (:eof)', found(FILE, { kind: "end" })],
];

describe("calls.location", () => {
  for (const [text, location] of LOCATIONS)
    it(text, () => expect(calls.location(read(`(:location ${text})`))).to.deep.equal(location));

  it("gives the reason why a place is unknown", () => {
    const unknown = { status: "unknown", reason: "Unknown source" };
    expect(calls.location(read('(:error "Unknown source")'))).to.deep.equal(unknown);
  });

  it("refuses other shapes", () => {
    for (const text of ["nil", "(:location)", '(:location (:moon "x") (:position 1))', "(:error 4)", '"x"'])
      expect(() => calls.location(read(text)), text).to.throw(DecodeError);
  });
});

describe("listThreads", () => {
  it("includes starting and ending threads, which may have no number", () => {
    const table = '((:id :name :status :priority) (4711 "reader-thread" "Running" 0) (nil "worker" "Running" 0))';
    expect(calls.image.listThreads.decode(read(table))).to.deep.equal([
      { id: 4711, name: "reader-thread", status: "Running" },
      { id: undefined, name: "worker", status: "Running" },
    ]);
  });
});

/** What Swank answers, and the names in it. */
const REPLIES: readonly (readonly [version: string, reply: string, names: readonly string[]])[] = [
  ["up to 2.31", '(("car" "cdr") "c")', ["car", "cdr"]],
  ["up to 2.31, without any", '(nil "")', []],
  ["since 2.32", '(("car" "-f-------" "CAR") ("cdr" "-f-------" "CDR"))', ["car", "cdr"]],
  ["since 2.32, with one", '(("car" "-f-------" "CAR"))', ["car"]],
  ["since 2.32, without any", "nil", []],
];

describe("simpleCompletions", () => {
  for (const [version, reply, names] of REPLIES)
    it(`decodes the names that Swank sends ${version}`, () =>
      expect(calls.completion.simpleCompletions.decode(read(reply))).to.deep.equal(names));
});
