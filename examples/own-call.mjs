// Calls a function of Swank that the library has no descriptor for, with the guarantees of the library's own calls.
import { decode, launch, lispFunction, SwankError } from "swank-client";

const disassemble = lispFunction({
  name: "swank:disassemble-form",
  encode: (form) => [form], // the arguments in Lisp; here a string
  decode: decode.string,
});

const client = await launch();

const listing = await client.run(disassemble, "'cl:car");
console.log(listing.split("\n")[0]);

// Every failure is a SwankError with a code from a closed set. No thread stays stopped.
const failure = await client.run(disassemble, "'no-such-function").catch((error) => error);
console.log(failure instanceof SwankError, failure.code);

// A reply that the decoder refuses, and a call that takes too long.
const wrong = { ...disassemble, decode: decode.integer };
console.log((await client.run(wrong, "'cl:car").catch((error) => error)).code);
const sleep = lispFunction({ name: "cl:sleep", encode: (seconds) => [seconds], decode: decode.any, timeout: 200 });
console.log((await client.run(sleep, 60).catch((error) => error)).code);

await client.close();
