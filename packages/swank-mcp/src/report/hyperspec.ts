import { PAGES } from "./hyperspec-pages.js";

const ROOT = "http://www.lispworks.com/documentation/HyperSpec/Body/";

/** A place in the HyperSpec. */
interface Place {
  /** What it is about: `format directive ~R, Radix`. Absent for symbols. */
  readonly what?: string;
  /** The number of the section, if it is known: `22.3.2.1`. */
  readonly section?: string;
  readonly url: string;
}

/** A page of a section has the chapter and a letter for each level: `22_cba` is 22.3.2.1. A dictionary's entry, such as `f_car_c`, has no number. */
function placeOf(page: string, what?: string): Place {
  const [, chapter, levels = ""] = /^(\d\d)_([a-z]*)$/.exec(page) ?? [];
  const url = `${ROOT}${page}.htm`;
  if (chapter === undefined) return { ...(what === undefined ? {} : { what }), url };
  const section = [Number(chapter), ...Array.from(levels, (letter) => letter.charCodeAt(0) - 96)].join(".");
  return { ...(what === undefined ? {} : { what }), section, url };
}

let pages: ReadonlyMap<string, string> | undefined;

function readPages(): Map<string, string> {
  const entries = PAGES.split(/;|\n/).flatMap((entry) => {
    const [page = "", ...names] = entry.trim().split(" ");
    return names.map((name) => [name, page] as const);
  });
  return new Map(entries);
}

/** The place of a symbol of COMMON-LISP; `undefined` if it has none. */
function symbolPlace(name: string): Place | undefined {
  pages ??= readPages();
  const page = pages.get(name.toLowerCase());
  return page === undefined ? undefined : placeOf(page);
}

/** Longest text that can be a directive or a reader macro. */
const MAX_SYNTAX = 100;

/** The directives of FORMAT: the character, the page of its section, and its title. */
const DIRECTIVES: readonly (readonly [char: string, page: string, title: string])[] = [
  ["C", "22_caa", "Character"],
  ["%", "22_cab", "Newline"],
  ["&", "22_cac", "Fresh-Line"],
  ["|", "22_cad", "Page"],
  ["~", "22_cae", "Tilde"],
  ["R", "22_cba", "Radix"],
  ["D", "22_cbb", "Decimal"],
  ["B", "22_cbc", "Binary"],
  ["O", "22_cbd", "Octal"],
  ["X", "22_cbe", "Hexadecimal"],
  ["F", "22_cca", "Fixed-Format Floating-Point"],
  ["E", "22_ccb", "Exponential Floating-Point"],
  ["G", "22_ccc", "General Floating-Point"],
  ["$", "22_ccd", "Monetary Floating-Point"],
  ["A", "22_cda", "Aesthetic"],
  ["S", "22_cdb", "Standard"],
  ["W", "22_cdc", "Write"],
  ["_", "22_cea", "Conditional Newline"],
  ["<", "22_ceb", "Logical Block, ended by ~:>"],
  ["I", "22_cec", "Indent"],
  ["/", "22_ced", "Call Function"],
  ["T", "22_cfa", "Tabulate"],
  ["<", "22_cfb", "Justification"],
  [">", "22_cfc", "End of Justification"],
  ["*", "22_cga", "Go-To"],
  ["[", "22_cgb", "Conditional Expression"],
  ["]", "22_cgc", "End of Conditional Expression"],
  ["{", "22_cgd", "Iteration"],
  ["}", "22_cge", "End of Iteration"],
  ["?", "22_cgf", "Recursive Processing"],
  ["(", "22_cha", "Case Conversion"],
  [")", "22_chb", "End of Case Conversion"],
  ["P", "22_chc", "Plural"],
  [";", "22_cia", "Clause Separator"],
  ["^", "22_cib", "Escape Upward"],
  ["\n", "22_cic", "Ignored Newline"],
];

/** A directive with its parameters and modifiers: `~R`, `~:@(`, `~,2F`, `~v,'0D`. */
const DIRECTIVE = /^~(?:(?:[-+]?\d+|'.|[Vv#])?,)*(?:[-+]?\d+|'.|[Vv#])?[:@]{0,2}([^/]|\/(?:[^/]*\/)?)$/s;

function directivePlaces(text: string): Place[] {
  const [, char] = DIRECTIVE.exec(text) ?? [];
  const wanted = char?.slice(0, 1).toUpperCase();
  return DIRECTIVES.filter(([each]) => each === wanted).map(([each, page, title]) =>
    placeOf(page, `format directive ${each === "\n" ? "~ at the end of a line" : `~${each}`}, ${title}`),
  );
}

/** The standard reader macros, and the pages of their sections. */
const READER_MACROS: Readonly<Record<string, string>> = {
  "(": "02_da",
  ")": "02_db",
  "'": "02_dc",
  ";": "02_dd",
  '"': "02_de",
  "`": "02_df",
  ",": "02_dg",
  "#": "02_dh",
  "#\\": "02_dha",
  "#'": "02_dhb",
  "#(": "02_dhc",
  "#*": "02_dhd",
  "#:": "02_dhe",
  "#.": "02_dhf",
  "#B": "02_dhg",
  "#O": "02_dhh",
  "#X": "02_dhi",
  "#R": "02_dhj",
  "#C": "02_dhk",
  "#A": "02_dhl",
  "#S": "02_dhm",
  "#P": "02_dhn",
  "#=": "02_dho",
  "##": "02_dhp",
  "#+": "02_dhq",
  "#-": "02_dhr",
  "#|": "02_dhs",
  "#<": "02_dht",
};

/** `#2A` is `#A`, and `,@` and `,.` are `,`. */
function readerMacroPlaces(text: string): Place[] {
  const macro = text.replace(/^#\d+/, "#").replace(/^,[@.]$/, ",");
  const key = macro.toUpperCase();
  const page = Object.hasOwn(READER_MACROS, key) ? READER_MACROS[key] : undefined;
  return page === undefined ? [] : [placeOf(page, `reader macro ${key}`)];
}

/**
 * The places in the HyperSpec of a directive of FORMAT, or of a reader macro. A name of a symbol has none.
 *
 * @param asked - The text that the caller gave: `~R`, `#'`.
 */
export function syntaxPlaces(asked: string): readonly Place[] {
  const text = asked === "~\n" ? asked : asked.trim();
  if (text.length > MAX_SYNTAX) return [];
  return [...directivePlaces(text), ...readerMacroPlaces(text)];
}

/** The place in the HyperSpec of a symbol, if it is one of COMMON-LISP. @param name - As the image writes it: `COMMON-LISP::CAR`. */
export function standardPlaces(name: string): readonly Place[] {
  const [, symbol] = /^COMMON-LISP::?(.+)$/.exec(name) ?? [];
  const place = symbol === undefined ? undefined : symbolPlace(symbol);
  return place === undefined ? [] : [place];
}

/** A line for each place. */
export function placeLines(places: readonly Place[]): string[] {
  return places.map(({ what, section, url }) => {
    const where = [...(what === undefined ? [] : [what]), ...(section === undefined ? [] : [`section ${section}`])];
    return `HyperSpec${where.length === 0 ? "" : `, ${where.join(", ")}`}: ${url}`;
  });
}

/** The places as data. */
export function placesData(places: readonly Place[]) {
  return places.length === 0 ? {} : { hyperspec: places.map((place) => ({ ...place })) };
}
