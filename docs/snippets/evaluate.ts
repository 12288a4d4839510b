import { decode, LispError, launch } from "swank-client";

const client = await launch();

// The values of the last form, as Lisp prints them.
console.log(await client.eval("(defun half (n) (/ n 2)) (floor (half 7) 2)"));

// The first value as data.
const squares = await client.eval("(loop for i below 4 collect (* i i))", { decode: decode.list(decode.integer) });
console.log(squares);

try {
  await client.eval("(half :seven)", { timeout: 5000 });
} catch (error) {
  if (!(error instanceof LispError)) throw error;
  console.log(error.message);
  console.log(error.report.frames.find(({ kind }) => kind === "user")?.call);
}

await client.close();
