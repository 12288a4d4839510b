import { testLastErrors } from "../support/last-error-runs.js";

describe("describe-last-error and get-backtrace, many times", () => testLastErrors(100));
