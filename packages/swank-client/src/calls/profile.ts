import { type Decoder, decode, keyword, quote, type Sexp } from "sexp-parser";
import { SwankError } from "../base/errors.js";
import { lispFunction } from "../lisp/descriptor.js";
import { type PROFILE_MODES, type Profile, profileData } from "./profile-data.js";
import { unwatchable } from "./unwatchable.js";

/** Milliseconds that the image has to load the profiler, or to find the names and places of functions. */
const PROFILE_TIME = 30_000;

const { list, map, string, tagged, tuple } = decode;

const nothing = map(tuple(), () => undefined);

function busy(): SwankError {
  return new SwankError("WATCH_REFUSED", "The statistical profiler of SBCL is running already.", {
    remedy: "Wait until that profile ends. If the program started it, (sb-sprof:stop-profiling) ends it.",
  });
}

function samples(): SwankError {
  return new SwankError(
    "WATCH_REFUSED",
    "SBCL's statistical profiler has samples of the program, which a profile would replace.",
    {
      remedy: "Look at them with (sb-sprof:report), then let them go with (sb-sprof:reset).",
    },
  );
}

/** What to prepare. */
export interface ProfileWishes {
  readonly key: number;
  readonly mode: (typeof PROFILE_MODES)[number];
  readonly packageName: string | undefined;
  readonly names: readonly string[];
}

/** Loads what profiling needs, or finds the functions whose calls are counted (lisp/profile/profile.lisp). */
export const prepareProfile = lispFunction({
  name: "prepare-profile",
  module: "profile",
  encode: ({ key, mode, packageName, names }: ProfileWishes): readonly Sexp[] => [
    key,
    keyword(mode),
    packageName ?? [],
    quote(names),
  ],
  decode: tagged({ ready: nothing }),
  refusals: {
    missing: () =>
      map(
        tuple(string),
        ([what]) => new SwankError("WATCH_REFUSED", `This SBCL lacks ${what}.`, { remedy: "Install SBCL's contribs." }),
      ),
    busy: () => map(tuple(), busy),
    samples: () => map(tuple(), samples),
    refused: () => unwatchable,
    "no-package": () =>
      map(tuple(string, list(string)), ([name, similar]) => {
        const hint = similar.length === 0 ? "" : ` Similar: ${similar.join(", ")}.`;
        return new SwankError("NO_SUCH_PACKAGE", `There is no package ${name}.${hint}`);
      }),
  },
  timeout: PROFILE_TIME,
  label: () => "loading the profiler",
});

/** Decodes the value of `profile-code` and `profile-seconds`. The error is `WATCH_REFUSED`. */
export const profileReply: Decoder<Profile | SwankError> = tagged({
  profile: map(profileData, (profile): Profile | SwankError => profile),
  busy: map(tuple(), (): Profile | SwankError => busy()),
  samples: map(tuple(), (): Profile | SwankError => samples()),
});

/** What the profile with a number has found (lisp/profile/profile.lisp). */
export const profileProgress = lispFunction({
  name: "profile-progress",
  module: "profile",
  encode: (key: number) => [key],
  decode: tagged({
    profile: map(profileData, (profile): Profile | undefined => profile),
    unknown: map(tuple(), (): Profile | undefined => undefined),
    busy: map(tuple(), (): Profile | undefined => undefined),
    samples: map(tuple(), (): Profile | undefined => undefined),
  }),
  timeout: PROFILE_TIME,
  label: () => "asking for the profile",
});
