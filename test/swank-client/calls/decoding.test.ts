import { expect } from "chai";
import { DecodeError, read } from "sexp-parser";
import * as calls from "swank-client/swank";

const CASES: readonly (readonly [text: string, location: calls.SourceLocation])[] = [
  [
    '(:location (:file "/a.lisp") (:position 241) (:snippet "(defun f "))',
    {
      status: "found",
      place: { kind: "file", path: "/a.lisp" },
      position: { kind: "offset", offset: 241 },
      snippet: "(defun f ",
    },
  ],
  [
    '(:location (:file "/a.lisp") (:position 1) nil)',
    {
      status: "found",
      place: { kind: "file", path: "/a.lisp" },
      position: { kind: "offset", offset: 1 },
      snippet: undefined,
    },
  ],
  [
    '(:location (:buffer "b.lisp") (:offset 100 5) ((:snippet "x")))',
    {
      status: "found",
      place: { kind: "buffer", name: "b.lisp", path: undefined },
      position: { kind: "offset", offset: 105 },
      snippet: "x",
    },
  ],
  [
    '(:location (:buffer-and-file "b.lisp" "/b.lisp") (:line 3 4))',
    {
      status: "found",
      place: { kind: "buffer", name: "b.lisp", path: "/b.lisp" },
      position: { kind: "line", line: 3, column: 4 },
      snippet: undefined,
    },
  ],
  [
    '(:location (:source-form "(f (#:***HERE*** (g)))") (:line 3) (:edit-path nil))',
    {
      status: "found",
      place: { kind: "form", text: "(f (#:***HERE*** (g)))" },
      position: { kind: "line", line: 3, column: undefined },
      snippet: undefined,
    },
  ],
  [
    '(:location (:zip "/x.jar" "a.lisp") (:function-name "f") odd)',
    {
      status: "found",
      place: { kind: "archive", path: "/x.jar", entry: "a.lisp" },
      position: { kind: "function", name: "f" },
      snippet: undefined,
    },
  ],
  [
    '(:location (:file "/a") (:method "m" ("t" "list") ":around") nil)',
    {
      status: "found",
      place: { kind: "file", path: "/a" },
      position: { kind: "method", name: "m", specializers: ["t", "list"], qualifiers: [":around"] },
      snippet: undefined,
    },
  ],
  [
    '(:location (:file "/a") (:source-path (0 2 1) 17) nil)',
    {
      status: "found",
      place: { kind: "file", path: "/a" },
      position: { kind: "path", path: [0, 2, 1], offset: 17 },
      snippet: undefined,
    },
  ],
  [
    '(:location (:file "/a") (:eof))',
    { status: "found", place: { kind: "file", path: "/a" }, position: { kind: "end" }, snippet: undefined },
  ],
  ['(:error "Unknown source")', { status: "unknown", reason: "Unknown source" }],
];

describe("calls.location", () => {
  for (const [text, location] of CASES)
    it(text, () => {
      expect(calls.location(read(text))).to.deep.equal(location);
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
