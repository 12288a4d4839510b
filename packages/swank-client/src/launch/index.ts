export type { ImageExit } from "../base/errors.js";
export type { CoreBuildEnd } from "./core.js";
export { type LaunchedFrom, type LaunchedImage, launchImage } from "./image.js";
export { type FindLispOptions, findLisp, type LaunchableLisp, type LispInstallation } from "./lisp.js";
export type { LaunchImageOptions } from "./plan.js";
export { lispProblem, type OutputPart } from "./process.js";
export {
  defaultInitFiles,
  type FindShareSecretOptions,
  findShareSecret,
  type InitFiles,
  type LoadedFile,
  type LoadedStatus,
  loadInitFile,
  loadInitFiles,
  type ShareSecret,
  type Sharing,
  shareImage,
} from "./share.js";
export { type FindSwankOptions, findSwank } from "./swank.js";
