export {
  any,
  bigInteger,
  boolean,
  integer,
  keywordName,
  literal,
  nil,
  real,
  string,
  symbol,
  symbolName,
} from "./atoms.js";
export { map, named, nullable, oneOf, optional, recursive } from "./combine.js";
export { plist, record, tagged } from "./records.js";
export { list, tuple, tupleRest } from "./sequences.js";
