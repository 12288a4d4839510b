import { expect } from "chai";
import type { types } from "swank-client";
import { liveClient } from "./live-image.js";
import { returned } from "./outcomes.js";

describe("Values of an evaluation", () => {
  const image = liveClient();

  it("are those of the last form", async () => {
    expect(await image.values("(+ 1 1) (+ 1 2)")).to.deep.equal(["3"]);
    expect(await image.values('(values 1 :two "three" \'four #\\5)')).to.deep.equal([
      "1",
      ":TWO",
      '"three"',
      "FOUR",
      "#\\5",
    ]);
  });

  it("are empty for (values), for no form, and for a comment", async () => {
    expect(await image.values("(values)")).to.deep.equal([]);
    expect(await image.values("1 (values)")).to.deep.equal([]);
    for (const code of ["", " \n", "; nothing", "#| nothing |#", '#+(or) (error "never")'])
      expect(await image.values(code), code).to.deep.equal([]);
  });

  it("are the first 50 of many, with the total", async () => {
    const numbers = [...Array(50).keys()].map(String);
    for (const count of [50, 1000]) {
      const outcome = returned(await image.evaluate(`(values-list (loop for i below ${count} collect i))`));
      expect(outcome.values).to.deep.equal(numbers);
      expect(outcome.valueCount).to.equal(count);
    }
  });

  it("are text of any alphabet, exactly", async () => {
    expect(await image.values('"おはよう \\"\\\\\n🙂\u0000"')).to.deep.equal(['"おはよう \\"\\\\\n🙂\u0000"']);
    expect(await image.values('(length "🙂é")')).to.deep.equal(["2"]);
  });

  it("are truncated if they are large", async () => {
    const [list] = await image.values("(make-list 1000000 :initial-element 7)");
    expect(list).to.match(/^\(7 7 .*\.\.\.\)$/);
    expect((await image.values("(make-array 5000000 :initial-element 7)"))[0]).to.match(/^#\(7 7 .*\.\.\.\)$/);
    expect((await image.values("(make-string 25000000 :initial-element #\\a)"))[0]).to.match(/^"a+"\.\.\.$/);
    const [nested] = await image.values("(let ((list '())) (dotimes (i 1000000 list) (setf list (list list))))");
    expect(nested).to.match(/^\(\(.*#.*\)\)$/);
    const [mixed] = await image.values("(loop repeat 150 collect (make-string 1000 :initial-element #\\b))");
    expect(mixed).to.have.length(20_003);
    expect(mixed).to.match(/\.\.\.$/);
  });

  it("say as data which of them are cut, and by what", async () => {
    const cuts = async (code: string, options?: types.EvaluateOptions) =>
      returned(await image.evaluate(code, options)).cutValues.map(({ index, by }) => [index, ...by]);
    const long = "(loop for i below 300 collect i)";
    const deep = "'((((deep))))";
    expect(await cuts(`(values 1 ${long} "short" ${deep})`)).to.deep.equal([[1, "length"]]);
    const limits = { printLength: 2, printLevel: 3, valueLimit: 25 };
    expect(await cuts(`(values ${long} ${deep} (list ${long} ${deep} 3))`, limits)).to.deep.equal([
      [0, "length"],
      [1, "level"],
      [2, "length", "level"],
    ]);
    const strings = '(values (make-string 26 :initial-element #\\a) "(1 2 ...) #" (make-list 2) (make-list 30))';
    expect(await cuts(strings, { valueLimit: 25 })).to.deep.equal([
      [0, "characters"],
      [3, "characters"],
    ]);
    expect(await cuts("(values (ash 1 3000000) #2A((1 2 3) (4 5 6)))", { printLength: 2 })).to.deep.equal([
      [0, "number"],
      [1, "length"],
    ]);
    await image.values("(setf *print-length* 1)");
    expect(await cuts("'(1 2)")).to.deep.equal([[0, "length"]]);
    expect(await cuts("(values '(1 2) (make-string 600000))", { valuesAs: "data" })).to.deep.equal([[1, "characters"]]);
    expect(await cuts("'(1 2 3)", { printLength: Number.POSITIVE_INFINITY, valuesAs: "data" })).to.deep.equal([]);
  });

  it("say how many elements or characters are shown, except of values that are whole and of parts of values", async () => {
    const cuts = async (code: string, options?: types.EvaluateOptions) =>
      returned(await image.evaluate(code, options)).cutValues.map(({ index, shown, total }) => [index, shown, total]);
    const long = "(loop for i below 300 collect i)";
    expect(await cuts(`(values ${long} (coerce ${long} 'vector) (list ${long}) '(1 2))`)).to.deep.equal([
      [0, 200, 300],
      [1, 200, 300],
      [2, undefined, undefined],
    ]);
    const strings = '(values (make-string 60) (list (make-string 60)) "short")';
    expect(await cuts(strings, { valueLimit: 50 })).to.deep.equal([
      [0, 50, 60],
      [1, 50, undefined],
    ]);
    expect(await cuts("(make-array 300 :element-type 'bit)")).to.deep.equal([]);
  });

  it("show as many elements and levels as the caller allows, within the print settings", async () => {
    const list = "(list (loop for i below 300 collect i) '(((((deep))))))";
    const nested = await image.values(list, { printLength: Number.POSITIVE_INFINITY, printLevel: 3 });
    expect(nested[0]).to.match(/^\(\(0 1 2 .* 299\) \(\(#\)\)\)$/);
    expect(await image.values("'(1 2 3)", { printLength: 2 })).to.deep.equal(["(1 2 ...)"]);
    expect(await image.values("'(1 (2))", { printLength: 0, printLevel: 0 })).to.deep.equal(["#"]);
    await image.values("(setf *print-length* 1)");
    expect(await image.values("'(1 2)", { printLength: 5 })).to.deep.equal(["(1 ...)"]);
  });

  it("are at most as long as the caller allows, and together fit into a message", async () => {
    const q = (length: number) => `(make-string ${length} :initial-element #\\q)`;
    const lengths = async (code: string, valueLimit: number) =>
      (await image.values(code, { valueLimit })).map((text) => (text.match(/q/g) ?? []).length);
    expect(await image.values(q(50), { valueLimit: 30 })).to.deep.equal([`"${"q".repeat(30)}"...`]);
    expect(await image.values("'(one two)", { valueLimit: 0 })).to.deep.equal(["..."]);
    expect(await lengths(q(50_000), 60_000)).to.deep.equal([50_000]);
    expect(await lengths(q(2_000_000), Number.POSITIVE_INFINITY)).to.deep.equal([1_000_000]);
    expect(await lengths(`(values ${q(900_000)} 1 ${q(900_000)} 1)`, 1e6)).to.deep.equal([250_000, 0, 250_000, 0]);
  });

  it("are shown by their size if they are huge numbers, at any depth", async () => {
    expect(await image.values("(ash 1 3000000)")).to.deep.equal(["#<integer too long to print: 3000001 bits>"]);
    expect(await image.values("(/ (ash 1 3000000) 3)")).to.deep.equal(["#<ratio too long to print: 3000001 bits>"]);
    expect((await image.values("(list 1 (vector (ash 1 30000000)) 2)"))[0]).to.match(/^\(#x1 #\(#x10+\.\.\.$/);
  });

  it("are cut if they are circular", async () => {
    const [list] = await image.values("(let ((list (list 1 2))) (setf (cddr list) list))");
    expect(list).to.match(/^\(1 2 1 2 .*\.\.\.\)$/);
    expect((await image.values("(let ((list (list 1 2))) (setf (car list) list))"))[0]).to.match(/^\(\(\(.*#.*2\)$/);
  });

  it("are shown except for parts that fail to print", async () => {
    const setUp = `(defclass bad () ()) (defmethod print-object ((o bad) s) (error "no way"))
      (defclass endless () ()) (defmethod print-object ((o endless) s) (loop (write-string "more " s)))
      (defclass deep () ()) (defmethod print-object ((o deep) s) (print-object o s) (write-string "never" s))`;
    await image.values(setUp);
    const [list] = await image.values("(list 1 (make-instance 'bad) 2)");
    expect(list).to.match(/^\(1 #<error printing a .*BAD.*> 2\)$/);
    expect((await image.values("(make-instance 'endless)"))[0]).to.match(/^(more )+.*\.\.\.$/);
    expect((await image.values("(list 1 (make-instance 'deep))"))[0]).to.contain("error printing");
    expect(await image.values("'(:still :here)")).to.deep.equal(["(:STILL :HERE)"]);
  });

  it("follow the print settings that code has made, within limits", async () => {
    await image.values("(setf *print-base* 16 *print-radix* t *print-case* :downcase *print-length* 3)");
    expect(await image.values("'(255 one two three)")).to.deep.equal(["(#xFF one two ...)"]);
    await image.values("(setf *print-base* 10. *print-radix* nil *print-case* :upcase *print-length* nil)");
    expect(await image.values("'(255 one two three)")).to.deep.equal(["(255 ONE TWO THREE)"]);
  });
});
