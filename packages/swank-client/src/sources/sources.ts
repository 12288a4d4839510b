import { readFile } from "node:fs/promises";
import type { Position } from "sexp-parser";
import { checkFunction, checkOptions, checkText } from "../base/check-arguments.js";
import type { LocationPlace } from "../calls/location.js";
import { findOffset } from "./find-offset.js";
import { type AnySource, locationOf } from "./place.js";
import { SourceText } from "./source-text.js";

/** Options of {@link Sources}. */
export interface SourcesOptions {
  /**
   * Reads the text of a place, as text or as the bytes of a file, for example from an editor's buffer or another machine. For `undefined`, and by
   * default, files are read on this machine.
   */
  readonly read?: (place: LocationPlace) => Promise<string | Uint8Array | undefined>;
  /**
   * The features of the Lisp, `lisp.info.features`. Paths count the top-level forms that Lisp reads. Default: unknown; each form behind `#+` or
   * `#-` is counted then.
   */
  readonly features?: readonly string[] | undefined;
}

/** A position in a text that was read. Lines and columns count from 1, and columns in UTF-16 code units, as editors show them. */
export interface FoundSource extends Position {
  readonly status: "found";
  readonly place: LocationPlace;
  /** The file, if the text is that of a file. */
  readonly path: string | undefined;
  /** True if the file has changed so that the text that Lisp knows is no longer in it. The position is the likeliest one then. */
  readonly isChanged: boolean;
  readonly source: SourceText;
}

/** A place whose text could not be read. */
export interface UnreadableSource {
  readonly status: "unreadable";
  readonly place: LocationPlace;
  readonly path: string | undefined;
  /** The line, if Lisp has given it. */
  readonly line: number | undefined;
  /** Why, as a sentence. */
  readonly reason: string;
  /** The error of reading. */
  readonly cause: unknown;
}

/** A place with its text and position, or the reason why it has none. */
export type LocatedSource =
  | FoundSource
  | UnreadableSource
  /** Lisp knows no place. */
  | { readonly status: "unknown"; readonly reason: string };

/**
 * Finds the lines and columns of the places that Lisp gives. Reads each text once: make a new object to see changes.
 *
 * @example
 * const sources = new Sources();
 * for (const { message, location } of notes) {
 *   const found = await sources.locate(location);
 *   if (found.status === "found") console.log(`${found.path}:${found.line}:${found.column}: ${message}`);
 * }
 */
export class Sources {
  readonly #read: NonNullable<SourcesOptions["read"]>;
  readonly #features: readonly string[] | undefined;
  readonly #texts = new Map<string, Promise<SourceText>>();

  /** @throws SwankError `INVALID_ARGUMENT` */
  constructor(options: SourcesOptions = {}) {
    checkOptions<SourcesOptions>("Sources", options, { read: true, features: true });
    const { read = async () => undefined, features } = options;
    checkFunction("read", read);
    if (features !== undefined) for (const feature of features) checkText("feature", feature);
    this.#read = read;
    this.#features = features;
  }

  /**
   * The position of a place: of a compiler note, a definition, a use, a frame, a warning, or the definition of a described symbol. If Lisp knows
   * the text there, searches for it around the position, as Emacs does, because the file may have changed.
   *
   * @param options - `code`: the evaluated code, for warnings about its forms.
   * @throws SwankError `INVALID_ARGUMENT`; nothing else.
   */
  async locate(place: AnySource, options: { readonly code?: string | undefined } = {}): Promise<LocatedSource> {
    checkOptions("locate", options, { code: true });
    const { code } = options;
    if (code !== undefined) checkText("code", code);
    const location = locationOf(place, code);
    if (location.status === "unknown") return location;
    const where = { place: location.place, path: "path" in location.place ? location.place.path : undefined };
    return this.#textOf(location.place).then(
      (source): FoundSource => {
        const { offset, isChanged } = findOffset(source, location.position, {
          snippet: location.snippet,
          features: this.#features,
        });
        return { status: "found", ...where, ...source.at(offset), isChanged, source };
      },
      (cause: unknown): UnreadableSource => {
        const line = location.position.kind === "line" ? location.position.line : undefined;
        const reason = cause instanceof Error ? cause.message : String(cause);
        return { status: "unreadable", ...where, line, reason, cause };
      },
    );
  }

  #textOf(place: LocationPlace): Promise<SourceText> {
    const key = JSON.stringify(place);
    const text = this.#texts.get(key) ?? this.#readText(place);
    this.#texts.set(key, text);
    return text;
  }

  async #readText(place: LocationPlace): Promise<SourceText> {
    return new SourceText((await this.#read(place)) ?? (await readDefault(place)));
  }
}

async function readDefault(place: LocationPlace): Promise<string | Uint8Array> {
  if (place.kind === "form") return place.text;
  if (place.kind === "archive") throw new Error(`${place.entry} is in the archive ${place.path}.`);
  if (place.kind === "buffer" && place.path === undefined) throw new Error(`The buffer ${place.name} has no file.`);
  return readFile(place.path ?? "");
}
