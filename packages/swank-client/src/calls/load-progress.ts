import { lispFunction } from "../lisp/descriptor.js";
import { CODE_TIME } from "./code-time.js";
import { loadProgressReply } from "./load-result.js";

/** What the loading with a number has done so far (lisp/code/loading.lisp). */
export const loadProgress = lispFunction({
  name: "load-progress",
  module: "code",
  encode: (key: number) => [key],
  decode: loadProgressReply,
  timeout: CODE_TIME,
  label: () => "asking what is loaded",
});
