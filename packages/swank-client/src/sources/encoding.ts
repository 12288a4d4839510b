/** A text, and whether each of its characters is one byte of its file. */
export interface DecodedSource {
  readonly text: string;
  readonly hasSingleBytes: boolean;
}

/** Bytes at the end of a file that are searched for local variables, as in Emacs and Swank. */
const LOCAL_VARIABLES_SIZE = 3000;

const SINGLE_BYTES = /^(?:iso-)?(?:8859-1|latin-1)$|^(?:us-)?ascii$/;

/** Reads bytes in the encoding that they name, otherwise in UTF-8, or in Latin-1 if they are no UTF-8. Keeps a byte order mark. */
export function decodeSource(source: string | Uint8Array): DecodedSource {
  if (typeof source === "string") return { text: source, hasSingleBytes: false };
  const latin = Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString("latin1");
  const encoding = namedEncoding(latin) ?? "utf-8";
  const text = SINGLE_BYTES.test(encoding) ? undefined : (decoded(source, encoding) ?? decoded(source, "utf-8"));
  return { text: text ?? latin, hasSingleBytes: text === undefined };
}

/** The encoding in the first line, or in the local variables at the end (swank/backend.lisp, `guess-external-format`). */
function namedEncoding(text: string): string | undefined {
  const [firstLine = ""] = text.split("\n", 1);
  const [, properties] = /-\*-(.*?)-\*-/.exec(firstLine) ?? [];
  const [, variables] = /^.*Local Variables:(.*)End:/s.exec(text.slice(-LOCAL_VARIABLES_SIZE)) ?? [];
  return [properties, variables]
    .flatMap((part) => /coding:[ \t]*([^\s;]+)/.exec(part ?? "")?.[1] ?? [])
    .map((name) => name.toLowerCase().replace(/-(?:unix|dos|mac)$/, ""))
    .at(0);
}

/** The text, or `undefined` if the encoding is not known or the bytes do not follow it. */
function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}
