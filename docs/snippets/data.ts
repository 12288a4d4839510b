import { decode, keyword, launch, lisp, SwankError } from "swank-client";

const client = await launch();
await client.eval(`
  (defun total (items &key (rate 0))
    (* (1+ rate) (reduce #'+ items :key (lambda (item) (getf item :price)))))
  (defun greeting (name) (format nil "Hello, ~a!" name))`);

// A call: the function's name, and its arguments as data.
console.log(await client.call("greeting", ['Ann "the boss" \\ O\'Neil']));
console.log(await client.call("list", [1, 0.5, 2n ** 70n, "x", ["a", true], keyword("done"), null]));

// A template: each value stands where code has an expression.
const items = [{ price: 3 }, { price: 4.5 }];
console.log(await client.eval`(total ${items} :rate ${0.2})`);

// The same with options: a decoder for the type, a time limit.
const code = lisp`(mapcar (lambda (item) (getf item :price)) ${items})`;
const prices: readonly number[] = await client.eval(code, { decode: decode.list(decode.real), timeout: 5000 });
console.log(prices);

// All values as data; and what has no data form.
console.log(await client.eval("(floor 7 2)", { as: "data" }));
await client.call("make-hash-table").catch((error) => {
  if (error instanceof SwankError) console.log(error.code);
});

await client.close();
