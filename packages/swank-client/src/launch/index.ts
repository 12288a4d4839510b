/**
 * Finds SBCL and Swank, and starts images without a client.
 *
 * @module swank-client/launch
 */

export type { ImageExit } from "../base/error-details.js";
export type { CoreBuildEnd } from "./background-build.js";
export type { FindLispOptions } from "./find-lisp.js";
export { findLisp } from "./find-lisp.js";
export type { FindShareSecretOptions, ShareSecret } from "./find-share-secret.js";
export { findShareSecret } from "./find-share-secret.js";
export type { FindSwankOptions } from "./find-swank.js";
export { findSwank } from "./find-swank.js";
export { launchImage } from "./launch-image.js";
export type { LaunchImageOptions } from "./launch-image-options.js";
export type { LaunchedFrom, LaunchedImage } from "./launched-image.js";
export type { LispInstallation } from "./lisp-installation.js";
export { lispProblem } from "./lisp-problem.js";
export type { InitFiles, LoadedFile, LoadedStatus } from "./load-init-files.js";
export { defaultInitFiles, loadInitFile, loadInitFiles } from "./load-init-files.js";
export type { Sharing } from "./share-image.js";
export { shareImage } from "./share-image.js";
