import { SwankError, type SwankErrorCode } from "swank-client";

/** The error that a promise rejects with, which must be one of this package's, with that code. */
export async function rejection(promise: Promise<unknown>, code: SwankErrorCode): Promise<SwankError> {
  return expectCode(await promise.then(fulfilled, (error: unknown) => error), code);
}

/** The error that a function throws, which must be one of this package's, with that code. */
export function thrown(code: SwankErrorCode, action: () => unknown): SwankError {
  try {
    action();
  } catch (error) {
    return expectCode(error, code);
  }
  throw new Error(`Nothing was thrown; ${code} was expected.`);
}

function fulfilled(value: unknown): Error {
  return new Error(`The promise was fulfilled with ${String(value)}.`);
}

function expectCode(error: unknown, code: SwankErrorCode): SwankError {
  if (error instanceof SwankError && error.code === code) return error;
  throw new Error(`${code} was expected.`, { cause: error });
}
