import { testLastErrors } from "../../support/last-error-runs.js";

describe("describe-last-error and get-backtrace", () => testLastErrors(4));
