import { checkChoice } from "../base/check-arguments.js";
import { attach as attachCall, type ForeignErrors } from "../calls/attach.js";
import { openingCall } from "../lisp/load-forms.js";
import type { LoadLimits, ModuleLoader } from "../lisp/module-loader.js";
import { type RuntimeModule, runtimeModule } from "../lisp/runtime-source.js";

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
 * @param next - The module that is probably needed next.
 * @throws SwankError the errors of `ModuleLoader.load`.
 */
export async function attach(
  loader: ModuleLoader,
  { foreignErrors = "auto" }: AttachOptions,
  limits: LoadLimits,
  next?: RuntimeModule,
): Promise<void> {
  await loader.load(runtimeModule("connection"), openingCall(attachCall, foreignErrors), limits, next);
}
