import { checkChoice } from "../base/check-arguments.js";
import { attach as attachCall, type ForeignErrors } from "../calls/attach.js";
import { type OpeningCall, openingCall } from "../lisp/load-forms.js";
import type { LoadLimits, ModuleLoader } from "../lisp/module-loader.js";
import { runtimeModule } from "../lisp/runtime-source.js";

const POLICIES: readonly ForeignErrors[] = ["auto", "mine", "theirs"];

/** Options for sharing an image with other clients. */
export interface AttachOptions {
  /** Default: `auto`. */
  readonly foreignErrors?: ForeignErrors | undefined;
}

/** @throws SwankError `INVALID_ARGUMENT` */
export function checkAttachOptions({ foreignErrors = "auto" }: AttachOptions): void {
  checkChoice("foreignErrors", foreignErrors, POLICIES);
}

/**
 * Sets up a new connection so that it does not disturb other clients, and so that the image cleans up after it.
 *
 * @throws SwankError the errors of `ModuleLoader.load`.
 */
export async function attach(loader: ModuleLoader, options: AttachOptions, limits: LoadLimits): Promise<void> {
  await loader.load(runtimeModule("connection"), attaching(options), limits);
}

/** The call that does that, once the module `connection` is loaded. */
export function attaching({ foreignErrors = "auto" }: AttachOptions): OpeningCall {
  return openingCall(attachCall, foreignErrors);
}
