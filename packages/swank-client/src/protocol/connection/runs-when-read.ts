/**
 * Whether reading a name may run code. Swank passes names of packages to Lisp's reader, where `#.` evaluates the next form and `#S` calls a
 * constructor. `#:name` is only a name, and so is `FOO#BAR`: inside a token `#` is an ordinary character.
 */
export function runsWhenRead(name: string): boolean {
  return /(?<![\p{L}\p{N}_*+/<>=-])#(?!:)/u.test(name);
}
