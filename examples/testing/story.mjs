const BAND_PRICE = `(defun band-price (weight)
  "Return the price of a parcel of WEIGHT kilograms."
  (cdr (find weight *bands* :test #'<= :key #'car)))`;

const EXPRESS_PRICE = `(defmethod price ((parcel express-parcel))
  (+ (call-next-method) 900))`;

/**
 * @param {import("../support/agent.mjs").Agent} agent
 * @param {() => Promise<void>} removeCompiled removes the compiled files. ASDF would not compile a file again that is saved in the second in
 * which it was compiled.
 */
export async function repair(agent, removeCompiled) {
  await load(agent);
  await agent.call("run-tests", { name: "postage" }, /^System postage: 2 passed, 3 failed/);
  await correctTheBands(agent);
  await correctTheMethod(agent);
  await save(agent);

  agent.think("Do the files alone make a correct system? Compile and load them in a fresh image.");
  await agent.call("reset-session", {}, /fresh/);
  await removeCompiled();
  await load(agent);
  await agent.call("run-tests", { name: "postage" }, /^System postage: 5 passed, 0 failed/);
}

/** @param {import("../support/agent.mjs").Agent} agent */
async function load(agent) {
  await agent.call("load-system", { file: "postage.asd" }, /^System postage is loaded: 3 files, compiled now\./);
  await agent.evaluate("(in-package :postage)", /=> #<PACKAGE "POSTAGE">/);
}

/** The cause of an error, found in the frames of the first failure. */
async function correctTheBands(agent) {
  agent.think("Three failures, perhaps with one cause. Run the tests again, and stop in the first failure.");
  const stopping = { name: "postage", "stop-on-failure": true };
  await agent.call("run-tests", stopping, /^\[ERROR\] TYPE-ERROR\n[\s\S]*#<PARCEL 20 kg>/);

  agent.think("The second parcel, of 20 kg, has the price NIL. How is a price made?");
  await agent.call("show-source", { name: "price" }, /band-price/);
  await agent.call("show-source", { name: "band-price" }, /:test #'</);
  await agent.evaluate("*bands*\n(mapcar #'band-price '(1/4 1/2 2 5 20))", /NIL\)/);

  agent.think(
    "The greatest weight of a band is not in the band, because the test is < instead of <=. Does other code read the table?",
  );
  await agent.call("find-references", { name: "*bands*", mode: "references" }, /^1 definition refers/);

  agent.think("No. Correct the function while the test is stopped, then run the test again, with FiveAM's restart.");
  await agent.evaluate(BAND_PRICE, /=> BAND-PRICE/);
  const again = { restart: "RETEST" };
  await agent.call("debugger_invoke_restart", again, /CHECK-FAILURE\n[\s\S]*1400[\s\S]*1450/);
}

/** The cause of a wrong value, found in the methods that a call runs. */
async function correctTheMethod(agent) {
  agent.think(
    "Two of the failures are gone. In the third a courier's parcel costs 50 too little: its insurance is missing. Which methods make its price?",
  );
  await agent.call("class-info", { name: "price", arguments: ["courier-parcel"] }, /1\. \(METHOD .*EXPRESS-PARCEL\)/);
  agent.think("The method of express parcels comes first. Does it call the next one, which adds the insurance?");
  await agent.call("show-source", { name: "(method price (express-parcel))" }, /band-price/);

  agent.think(
    "It does not: it asks for the band itself, and shadows the method of insured parcels. Does a better one compile?",
  );
  await agent.call("compile-code", { code: EXPRESS_PRICE }, /^The code compiles\.$/);
  await agent.evaluate(EXPRESS_PRICE, /=> #<STANDARD-METHOD/);
  const again = { restart: "RETEST" };
  await agent.call("debugger_invoke_restart", again, /^System postage: 5 passed, 0 failed/);
}

/** Both corrections are only in the image. */
async function save(agent) {
  agent.think("The suite is green. What has to be saved?");
  await agent.call("list-changes", {}, /BAND-PRICE[\s\S]*EXPRESS-PARCEL/);
  await agent.call("save-changes", {}, /would be written/);
  agent.think("That is the whole change. Write it.");
  await agent.call("save-changes", { "dry-run": false }, /: written/);
}
