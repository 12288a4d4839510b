/** Whether a file's name says that it defines systems of ASDF. */
export function isSystemFile(file: string): boolean {
  return /\.asd$/i.test(file);
}
