/** Returns code that loads an example; the image's directory is the root of the repository. @param {string} name */
export function load(name) {
  return `(load "examples/debugging/${name}.lisp")`;
}
