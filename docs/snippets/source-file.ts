import { elements, positionAt, printSource, readWithPositions } from "sexp-parser";

const source = `;; Squares.
#+sbcl (declaim (inline square))
(defun square (x) #| a number |# (* x x))
#-sbcl (defun square (x) (expt x 2))
`;
const tree = readWithPositions(source, { features: ["sbcl", "unix"] });

for (const form of elements(tree)) {
  const { line, column } = positionAt(source, form.start);
  console.log(`${line}:${column}`, printSource(form));
}
console.log(tree.children.map(({ kind }) => kind).join(" "));
console.log(printSource(tree) === source);
