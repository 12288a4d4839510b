import { lispFunction } from "../lisp/descriptor.js";

/** Makes the client's code unable to end the image. */
export const protectImage = lispFunction({
  name: "protect-image",
  module: "evaluate",
  decode: () => undefined,
  label: () => "protecting the image",
});
