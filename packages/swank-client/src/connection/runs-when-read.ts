/**
 * Whether reading a name may run code. Swank passes names of packages to Lisp's reader, where `#.` evaluates the next form and `#S` calls a
 * constructor. `#:name` is only a name.
 */
export function runsWhenRead(name: string): boolean {
  return /#(?!:)/.test(name);
}
