import { decode } from "sexp-parser";
import { lispFunction } from "../lisp/descriptor.js";

/**
 * Names this client's agent, whose activity the image records from now on for the user's Emacs (lisp/activity/agents.lisp). Gives the name
 * that Emacs shows, with a number if another agent has the same name.
 */
export const introduce = lispFunction({
  name: "introduce",
  module: "activity",
  encode: (name: string) => [name],
  decode: decode.string,
  label: () => "introducing the agent",
});
