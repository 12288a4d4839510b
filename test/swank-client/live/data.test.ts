import { expect } from "chai";
import { type Decoder, decode, equals, float, keyword, read, symbol, vector } from "sexp-parser";
import { EvaluationError, LispError, lisp, type SwankClient, type types } from "swank-client";
import { rejection, thrown } from "../../support/caught.js";
import { liveImage } from "./live-image.js";

const STRINGS = [
  "",
  'a "quoted" text',
  "back\\slash \\",
  '") (setf *pwned* t) ("',
  "#.(setf *pwned* t)",
  "line\nbreak\ttab\r",
  "nul \0 inside",
  "astral \u{1F600} and \u{10FFFF}",
  "'quote `backquote ,comma |bar| ;comment #|block|#",
  "```lisp\n(+ 1 2)\n```",
  "ünïcode – ‘curly’ \u200b\u00a0",
];

describe("Data both ways", () => {
  const image = liveImage();
  let client: SwankClient;
  beforeEach(async () => {
    client = await image.connect();
    await client.eval("(defvar *pwned* nil) (defun same (&rest args) (values-list args))");
  });
  afterEach(async () => {
    if (client.isOpen) expect(await client.eval("*pwned*")).to.deep.equal(["NIL"]);
  });

  const same = (value: types.DataValue) => client.call("same", [value]);
  const printed = (value: types.DataValue) =>
    client.call("write-to-string", [value, keyword("readably"), false, keyword("pretty"), false]);

  it("carries strings with anything in them", async () => {
    for (const text of STRINGS) {
      expect(await same(text)).to.equal(text);
      expect(await client.eval`(same ${text})`).to.equal(text);
      expect(await client.call("length", [text])).to.equal([...text].length);
    }
    expect(await same(STRINGS)).to.deep.equal(STRINGS);
  });

  it("carries numbers: integers, bigints, ratios and floats", async () => {
    for (const value of [0, 1, -7, 2 ** 53 - 1, 2n ** 53n, -(10n ** 60n), 0.5, -0.1, 1e21, 5e-324, 1.5e300, 2 ** 70])
      expect(await same(value)).to.equal(value);
    expect(await same(12n), "a small bigint comes back as a number").to.equal(12);
    expect(await printed([1, 0.5, 1e21, 12n, -0])).to.equal("(1 0.5d0 1.0d21 12 0)");
    expect(await printed(float(2))).to.equal("2.0d0");
    expect(await client.eval("(values 1.5 0.1 2.5d0 1/3)", { as: "data" })).to.deep.equal([
      1.5,
      0.1,
      2.5,
      { kind: "ratio", numerator: 1n, denominator: 3n },
    ]);
    const [third = null] = await client.eval("1/3", { as: "data" });
    expect(await client.call("+", [third, third, third])).to.equal(1);
    expect(await client.call("+", [read("1.5f0"), 1]), "a single").to.equal(2.5);
  });

  it("carries truth values, the empty list and nothing as T and NIL", async () => {
    expect(await printed([true, false, null, undefined, [], {}])).to.equal("(T NIL NIL NIL NIL NIL)");
    expect(await same([true, false, null, undefined, [], {}])).to.deep.equal([true, null, null, null, null, null]);
    expect(await client.call("same", [])).to.equal(null);
    expect(await client.call("same")).to.equal(null);
  });

  it("carries symbols, keywords, characters, pairs and lists as what they are", async () => {
    await client.eval('(defpackage "Odd Pkg" (:use) (:export "a" "B")) (intern "hidden" "Odd Pkg")');
    for (const text of [":key", ":|Key|", "car", "|Odd Pkg|:|a|", "|Odd Pkg|::|hidden|", "cl-user::same"])
      expect(await client.call("symbol-name", [symbol(text)]), text).to.equal(symbol(text).name);
    expect(await same(keyword("key"))).to.equal(keyword("key"));
    expect(await same(symbol("|Odd Pkg|:|a|"))).to.equal(symbol("|Odd Pkg|:|a|"));
    expect(await same([1, [2, ["x", true]], []])).to.deep.equal([1, [2, ["x", true]], null]);
    expect(await same(read("(a . b)"))).to.deep.equal(read("(a . b)"));
    expect(await same(read("#\\a"))).to.deep.equal({ kind: "character", value: "a" });
    expect(await printed(vector(1, "x"))).to.equal('#(1 "x")');
    expect(await client.eval('(values #(1 #(2)) #() #*101 #p"/tmp/x" (cons 1 2))', { as: "data" })).to.deep.equal([
      [1, [2]],
      [],
      [1, 0, 1],
      "/tmp/x",
      { kind: "dotted", items: [1], tail: 2 },
    ]);
  });

  it("reads a symbol without package in CL-USER, both ways, whatever the session's package is", async () => {
    await client.eval('(make-package "APART" :use nil) (in-package "APART")');
    expect(await client.eval("(cl:list 'cl-user::red 'green)", { as: "data" })).to.deep.equal([
      [symbol("red"), symbol("apart::green")],
    ]);
    expect(await client.call("cl:eq", [symbol("red"), symbol("cl-user::red")])).to.equal(true);
    await client.eval("(cl:in-package :cl-user)");
  });

  it("sends an object as a property list, and a map as an association list", async () => {
    const order = { orderId: 7, items: ["a", { price: 0.5 }], left: undefined, isPaid: true };
    expect(await printed(order)).to.equal('(:ORDER-ID 7 :ITEMS ("a" (:PRICE 0.5d0)) :IS-PAID T)');
    const point = decode.plist({ orderId: decode.integer, isPaid: decode.boolean });
    expect(await client.call("same", [order], { decode: point })).to.deep.equal({ orderId: 7, isPaid: true });
    expect(await client.eval`(getf ${order} :order-id)`).to.equal(7);
    const map = new Map<unknown, unknown>([
      ["a", 1],
      [keyword("b"), [2, 3]],
    ]);
    expect(await printed(map)).to.equal('(("a" . 1) (:B 2 3))');
    expect(await client.eval`(cdr (assoc "a" ${map} :test #'equal))`).to.equal(1);
  });

  it("carries large arrays, maps and objects, and holes as NIL", async () => {
    const items = Array.from({ length: 200_000 }, (_, index) => index);
    expect(await client.call("length", [items])).to.equal(200_000);
    expect(lisp`${new Map(items.map((item) => [item, 1]))}`).to.include("(199999 . 1)");
    expect(lisp`${Object.fromEntries(items.map((item) => [`k${item}`, 1]))}`).to.include(":k199999 1");
    const sparse: number[] = [];
    sparse[2] = 3;
    expect(await printed([sparse, { kind: "vector", items: sparse }])).to.equal("((NIL NIL 3) #(NIL NIL 3))");
  });

  it("carries bit vectors and pathnames, and refuses other objects of sexp-parser", async () => {
    expect(await printed([read("#*101"), read("#*")])).to.equal("(#*101 #*)");
    expect(await client.call("pathname-name", [read('#p"/tmp/x.lisp"')])).to.equal("x");
    const refused = ["#C(1 2)", "#2A((1 2) (3 4))", "#S(point :x 1)", "#.(setf *pwned* t)", "#1=(a #1#)", "`(a ,b)"];
    for (const text of refused) {
      const error = await rejection(client.call("same", [[read(text)]]), "INVALID_ARGUMENT");
      expect(error.message, text).to.match(/^argument 1\[0\] is .*, and cannot be sent as Lisp data\.$/);
    }
  });

  it("refuses objects with the fields of Lisp data whose contents do not fit", async () => {
    const forged = [
      { kind: "vector", items: 5 },
      { kind: "vector", items: null },
      { kind: "dotted", items: null, tail: 1 },
      { kind: "dotted", items: [], tail: 1 },
      { kind: "float", text: "2.5d0", value: 1 },
      { kind: "float", text: 2, value: 2 },
      { kind: "character", value: ["a"] },
      { kind: "bit-vector", bits: 101 },
      { kind: "bit-vector", bits: "12" },
      { kind: "pathname", namestring: 1 },
      { kind: "symbol", name: "CAR", package: "COMMON-LISP", internal: false },
    ];
    for (const value of forged) {
      const error = await rejection(client.call("same", [value]), "INVALID_ARGUMENT");
      expect(error.message, JSON.stringify(value)).to.match(/^argument 1 /);
    }
  });

  it("refuses half of a surrogate pair in keys and names of symbols", async () => {
    const values = [
      { "a\ud800": 1 },
      symbol("|a\udc00|"),
      keyword("\ud800"),
      symbol("|p\ud800|:x"),
      { kind: "pathname", namestring: "\ud800" },
    ];
    for (const value of values) {
      const error = await rejection(client.call("same", [value]), "INVALID_ARGUMENT");
      expect(error.message).to.include("has half of a surrogate pair");
    }
    await rejection(client.call("|a\ud800|"), "INVALID_ARGUMENT");
    expect(await client.eval("(string (code-char #xd800))", { as: "data" })).to.deep.equal(["\ufffd"]);
  });

  it("carries denormal doubles exactly, and refuses denormal singles", async () => {
    const values = [5e-324, 1.234e-310, 1.5e-320, 1.976e-321, -2.225073858507201e-308, 2.2250738585072014e-308];
    for (const value of values) {
      expect(await same(value)).to.equal(value);
      expect(await same([{ kind: "vector", items: [float(value)] }])).to.deep.equal([[value]]);
    }
    const error = await rejection(client.call("same", [read("1f-40")]), "INVALID_ARGUMENT");
    expect(error.message).to.include("too small for a single-float");
  });

  it("refuses keys that become the same keyword", async () => {
    const error = await rejection(client.call("same", [[{ fileName: 1, "file-name": 2 }]]), "INVALID_ARGUMENT");
    expect(error.message).to.include("argument 1[0] has the keys fileName and file-name, which are both :file-name");
    expect(await same({ fileName: 1, "file-name": undefined })).to.deep.equal([keyword("file-name"), 1]);
  });

  it("takes no object of other origin for code or for a symbol", async () => {
    const opaque: object = JSON.parse('{ "kind": "opaque", "text": "#.(setf *pwned* t)" }');
    await rejection(client.call("same", [opaque]), "INVALID_ARGUMENT");
    expect(await printed({ kind: "symbol", name: "CAR", internal: false })).to.equal(
      '(:KIND "symbol" :NAME "CAR" :INTERNAL NIL)',
    );
    expect(await printed({ kind: "vector", x: 1 })).to.equal('(:KIND "vector" :X 1)');
    expect(await printed({ kind: "constructor" })).to.equal('(:KIND "constructor")');
    for (const kind of ["float", "ratio", "character"]) {
      const fields = { float: { value: 1, text: "#.(list)" }, character: { value: "ab" } };
      const ratio = { numerator: "#.(list) 1", denominator: 1 };
      const forged = { kind, ...(kind === "ratio" ? ratio : Reflect.get(fields, kind)) };
      await rejection(client.call("same", [forged]), "INVALID_ARGUMENT");
    }
    expect(await same({ "odd |key|": 1 })).to.deep.equal([keyword("odd |key|"), 1]);
  });

  it("refuses what is no Lisp data, with its place", async () => {
    const circular: unknown[] = [1];
    circular.push([circular]);
    const deep = Array.from({ length: 2000 }).reduce<types.DataValue>((inner) => [inner], 1);
    const cases: readonly (readonly [object | number | string, string])[] = [
      [[1, Number.NaN], "argument 1[1] is NaN, and"],
      [{ rate: Number.POSITIVE_INFINITY }, "argument 1.rate is Infinity, and"],
      [[() => 1], "argument 1[0] is a function, and"],
      [new Date(0), "argument 1 is a Date, and"],
      [new Set([1]), "argument 1 is a Set, and"],
      [[Symbol("x")], "argument 1[0] is a symbol, and"],
      ["\ud800", "argument 1 has half of a surrogate pair"],
      [circular, "argument 1[1][0] contains itself, and"],
      [deep === undefined ? 0 : Object(deep), "is nested deeper than 1000 levels"],
    ];
    for (const [value, message] of cases)
      expect((await rejection(client.call("same", [value]), "INVALID_ARGUMENT")).message).to.include(message);
    const shared = [1];
    expect(await same([shared, shared])).to.deep.equal([[1], [1]]);
    await rejection(Reflect.apply(client.call, client, ["same", "x"]), "INVALID_ARGUMENT");
    await rejection(Reflect.apply(client.call, client, ["same", [], { decod: 1 }]), "INVALID_ARGUMENT");
    await rejection(Reflect.apply(client.call, client, ["same", [], { as: "data" }]), "INVALID_ARGUMENT");
  });

  it("refuses values without a data form, and says what to do", async () => {
    const values: Readonly<Record<string, string>> = {
      "(make-hash-table)": "an object without a syntax",
      "(list 1 #'car)": "an object without a syntax",
      "(find-package :cl)": "an object without a syntax",
      "sb-ext:double-float-positive-infinity": "an infinity",
      "(list #C(1 2))": "a complex number",
      "(make-array '(2 2))": "an array with several dimensions",
      "(code-char 233)": "a character that only Lisp can name",
      "(progn (defstruct dt-point x) (make-dt-point :x 1))": "a structure",
    };
    for (const [code, what] of Object.entries(values)) {
      const error = await rejection(client.eval(`(princ "out") ${code}`, { as: "data" }), "UNEXPECTED_REPLY");
      if (!(error instanceof EvaluationError)) throw error;
      expect(error.message, code).to.include(`is ${what}, which has no data form.`);
      expect(error.remedy).to.include("Return strings, numbers, symbols and lists");
      expect(error.transcript.stdout).to.equal("out");
    }
    await rejection(client.call("make-hash-table"), "UNEXPECTED_REPLY");
    const endless = client.eval("(let ((x (list 1))) (setf (cdr x) x))", { as: "data" });
    expect((await rejection(endless, "REPLY_TOO_LARGE")).remedy).to.include("contains itself");
  });

  it("returns all values as data, or the first one", async () => {
    expect(await client.eval("(floor 7 2)", { as: "data" })).to.deep.equal([3, 1]);
    expect(await client.eval("(values)", { as: "data" })).to.deep.equal([]);
    expect(await client.eval("(floor 7 2)", { as: "text" })).to.deep.equal(["3", "1"]);
    expect(await client.call("floor", [7, 2])).to.equal(3);
    expect(await client.eval`(multiple-value-list (floor ${7} ${2}))`).to.deep.equal([3, 1]);
    await rejection(client.eval("(values-list (loop repeat 60 collect 1))", { as: "data" }), "REPLY_TOO_LARGE");
    const wrong = rejection(client.call("floor", [7, 2], { decode: decode.string }), "UNEXPECTED_REPLY");
    expect((await wrong).message).to.equal("The value 3 is not what `decode` accepts: expected a string, found 3.");
  });

  it("calls functions by their names in the current package", async () => {
    await client.eval("(defpackage dt-app (:use :cl) (:export run)) (in-package dt-app) (defvar *size* 0)");
    await client.eval(
      "(defun run (n text &optional rest) (list n text rest)) (defun (setf size) (new) (setf *size* new))",
    );
    expect(await client.call("run", [1, "x", ["a", true]])).to.deep.equal([1, "x", ["a", true]]);
    await client.eval("(in-package :cl-user)");
    expect(await client.call("dt-app:run", [1, "x"])).to.deep.equal([1, "x", null]);
    expect(await client.call("run", [1, "x"], { package: "dt-app" })).to.deep.equal([1, "x", null]);
    expect(await client.call("(setf dt-app::size)", [3])).to.equal(3);
    const integers: Decoder<readonly number[]> = decode.list(decode.integer);
    const numbers: readonly number[] = await client.call("list", [1, 2], { decode: integers });
    expect(numbers).to.deep.equal([1, 2]);
    for (const name of ["", "1", "(lambda ())", "car cdr", "#.(quit)", "(setf)"])
      await rejection(client.call(name), "INVALID_ARGUMENT");
    expect(await client.eval('(find-symbol "HOME" :dt-app)')).to.deep.equal(["NIL", "NIL"]);
    const undefinedOne = await rejection(client.call("dt-app::no-such", [1]), "LISP_ERROR");
    expect(undefinedOne.message).to.include("UNDEFINED-FUNCTION");
    await rejection(client.call("when", [1]), "LISP_ERROR");
    const failing = await rejection(client.call("error", ["bad ~a", 1]), "LISP_ERROR");
    expect(failing).to.be.instanceOf(LispError);
    expect(failing.message).to.equal("SIMPLE-ERROR: bad 1");
    const unknown = await rejection(client.call("list", [symbol("no-such-package:x")]), "LISP_ERROR");
    expect(unknown.message).to.match(/package/i);
  });

  it("passes the options of eval to a call", async () => {
    const output: string[] = [];
    const options = { onOutput: ({ text }: types.OutputChunk) => output.push(text), stdin: "typed" };
    expect(await client.call("read-line", [], options)).to.equal("typed");
    await client.call("princ", ["shown"], options);
    expect(output).to.deep.equal(["shown"]);
    await rejection(client.call("sleep", [1000], { timeout: 200 }), "EVALUATION_TIMEOUT");
    await rejection(client.call("list", [], { signal: AbortSignal.abort() }), "CANCELLED");
  });

  it("puts values into code as expressions, whatever the session's readtable and print settings are", async () => {
    const items = ["a", 1, keyword("b"), [0.5]];
    await client.eval(
      "(setf *read-base* 16 *print-base* 16 *print-length* 1 *read-default-float-format* 'double-float)",
    );
    expect(await client.eval`(list ${10} ${items} :rate ${0.2} ${read("1.5")})`).to.deep.equal([
      10,
      items,
      keyword("rate"),
      0.2,
      1.5,
    ]);
    await client.eval("(setf *readtable* (copy-readtable nil)) (setf (readtable-case *readtable*) :invert)");
    expect(await client.eval`(list ${symbol("car")} ${keyword("b")})`).to.deep.equal([symbol("car"), keyword("b")]);
    expect(await client.call("list", [symbol("car"), 1])).to.deep.equal([symbol("car"), 1]);
    await client.eval("(setf *read-base* 36.)");
    expect(await client.call("list", [symbol("car"), 10])).to.deep.equal([symbol("car"), 10]);
    await client.reset();
    expect(await client.eval(lisp`\`(a ',${1} ,(list ${2}))`, { as: "data" })).to.deep.equal([
      [symbol("a"), [symbol("quote"), 1], [2]],
    ]);
    const code = lisp`\`(1 ,${"two"} ,@${[3]})`;
    expect(await client.eval(code, { as: "data", timeout: 10_000 })).to.deep.equal([[1, "two", 3]]);
    expect(await client.eval`(char= #\Space ${read("#\\Space")})`).to.equal(true);
    expect(await client.eval`(list "$\{x}" ${1})`).to.deep.equal(["$".concat("{x}"), 1]);
    expect((await client.evaluate(lisp`(length ${"abc"})`).result()).values).to.deep.equal(["3"]);
    const twice = await client.eval`(let ((l (loop repeat 2 collect ${["x"]}))) (eq (first l) (second l)))`;
    expect(twice, "each evaluation makes fresh data").to.equal(null);
  });

  it("takes adjacent values, and values in backquoted vectors and lists, lambda expressions and conditional code", async () => {
    expect(await client.eval`(list ${1}${"b"}${[3]})`).to.deep.equal([1, "b", [3]]);
    expect(await client.eval`\`#(a ,${1} ,@${[2, 3]})`).to.deep.equal([symbol("a"), 1, 2, 3]);
    expect(await client.eval`\`(1 . ,${2})`).to.deep.equal(read("(1 . 2)"));
    expect(await client.eval`(mapcar #'(lambda (x) (+ x ${1})) ${[1, 2]})`).to.deep.equal([2, 3]);
    expect(await client.eval`(funcall (function (lambda () ${1})))`).to.equal(1);
    expect(await client.eval`(list #+sbcl ${1} #-sbcl ${2})`).to.deep.equal([1]);
    expect(await client.eval`(case 1 (${1} 'never) (t ${"other"}))`, "a key is not checked").to.equal("other");
  });

  it("reads a called name in standard syntax", async () => {
    await client.eval("(setf *readtable* (copy-readtable nil)) (setf (readtable-case *readtable*) :preserve)");
    expect(await client.call("list", [1])).to.deep.equal([1]);
    await client.reset();
  });

  it("reads an instance that is printed in readable syntax as that syntax, and refuses characters with other names", async () => {
    await client.eval("(defclass dt-plain () ()) (defmethod print-object ((x dt-plain) stream) (princ '(1 2) stream))");
    expect(await client.call("make-instance", [symbol("dt-plain")])).to.deep.equal([1, 2]);
    await rejection(client.call("char", ["é", 0]), "UNEXPECTED_REPLY");
    expect(await client.call("string", [read("#\\é")])).to.equal("é");
  });

  it("refuses a value that is no expression of the code", async () => {
    const value = "x";
    const wrong: readonly (() => unknown)[] = [
      () => lisp`(print "Hello ${value}")`,
      () => lisp`(list 1 ; ${value}
        2)`,
      () => lisp`#| ${value} |# 1`,
      () => lisp`'(a ${value})`,
      () => lisp`(quote ${value})`,
      () => lisp`\`(a ${value})`,
      () => lisp`(list |a ${value}|)`,
      () => lisp`(list foo${value})`,
      () => lisp`(list foo${value}${value})`,
      () => lisp`"${value}${value}"`,
      () => lisp`(list #+${value} 1)`,
      () => lisp`(list #-(or sbcl ${value}) 1)`,
      () => lisp`(list . ${value})`,
      () => lisp`(list 1 . #+sbcl ${value})`,
      () => lisp`(list \`(a ,(list . ${value})))`,
      () => lisp`(function ${value})`,
      () => lisp`(cl:function (setf ${value}))`,
      () => lisp`#'(setf ${value})`,
      () => lisp`\`#2A(a ,${value})`,
      () => lisp`#(1 ${value})`,
      () => lisp`#.${[symbol("cl-user::same")]}`,
      () => lisp`(funcall #'${value})`,
      () => lisp`(list \`(a ',${value} ,'${value}))`,
    ];
    for (const make of wrong)
      expect(thrown("INVALID_ARGUMENT", make).message).to.match(/^Value \d is no expression of the code\.$/);
    expect(thrown("INVALID_ARGUMENT", () => lisp`(list ${value}`).message).to.match(/^The code cannot be read/);
    await rejection(client.eval`'(a ${value})`, "INVALID_ARGUMENT");
    expect(equals(read(lisp`(list 1)`), read("(list 1)"))).to.equal(true);
  });
});
