import { SwankError, type types } from "swank-client";

/** Returns the SwankError with this code that a promise rejects with; fails otherwise. */
export async function rejection(promise: Promise<unknown>, code: types.SwankErrorCode): Promise<SwankError> {
  return expectCode(await promise.then(fulfilled, (error: unknown) => error), code);
}

/** Returns the SwankError with this code that a function throws; fails otherwise. */
export function thrown(code: types.SwankErrorCode, action: () => unknown): SwankError {
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

function expectCode(error: unknown, code: types.SwankErrorCode): SwankError {
  if (error instanceof SwankError && error.code === code) return error;
  throw new Error(`${code} was expected.`, { cause: error });
}
