import { DecodeError, decode, explain, misclosedLines, print, read, SexpError, scan } from "sexp-parser";

const datum = read('(:name "corner" :position (3 4) :colour cl-user::red)');
console.log(print(datum));

const point = decode.plist({ name: decode.string, position: decode.tuple(decode.integer, decode.integer) });
console.log(point(datum)); // typed: { name: string, position: [number, number] }

try {
  point(read('(:name "corner" :position (3 "4"))'));
} catch (error) {
  if (error instanceof DecodeError) console.log(error.message);
}

try {
  read("(a #C(1))");
} catch (error) {
  if (error instanceof SexpError) console.log(explain(error, "(a #C(1))"));
}

const unbalanced = "(defun f (x)\n  (list x)\n\n(defun g (y) y)";
console.log(scan(unbalanced));
console.log(misclosedLines(unbalanced));
