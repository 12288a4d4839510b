import { Agent, get } from "node:http";
import { setTimeout } from "node:timers/promises";
import { launch } from "swank-client";
import { announce, median } from "../measure.mjs";

/** @typedef {import("swank-client").SwankClient} SwankClient */

const CONNECTIONS = 8;
const WINDOW = 1500;
const ROUNDS = 3;
/** Milliseconds between calls of tools that look once. */
const PAUSE = 250;

/** A page takes so long that tracing for WINDOW stays below the limit of calls. */
const PROGRAM = `
(defpackage :serving (:use :cl))
(in-package :serving)
(defun row (number) (format nil "<tr><td>~r</td><td>~@r</td><td>~:r</td></tr>" number (1+ (mod number 3998)) number))
(defun page () (apply #'concatenate 'string (mapcar #'row (loop repeat 4 collect (1+ (random (expt 10 60)))))))
(hunchentoot:define-easy-handler (numbers :uri "/") () (page))
(defvar *acceptor* (hunchentoot:start (make-instance 'hunchentoot:easy-acceptor :port 0 :address "127.0.0.1"
                                                      :access-log-destination nil :message-log-destination nil)))
(hunchentoot:acceptor-port *acceptor*)`;

/**
 * Measures how many requests a second Hunchentoot answers while a tool looks at the program, and after that, against before.
 *
 * @returns {Promise<import("../measure.mjs").Figure[]>}
 */
export async function serving() {
  const lisp = await launch();
  const load = new Load();
  try {
    await run(lisp, '(require "asdf") (asdf:load-system "hunchentoot")');
    load.start(Number(await run(lisp, PROGRAM)));
    await setTimeout(WINDOW);
    const figures = [];
    for (const [name, look] of Object.entries(LOOKS)) figures.push(...(await cost(name, () => look(lisp), load)));
    return figures;
  } finally {
    await load.stop();
    await lisp.close();
  }
}

/** What looks at the program for about WINDOW. @type {Record<string, (lisp: SwankClient) => Promise<unknown>>} */
const LOOKS = {
  "list-threads": (lisp) => repeatedly(() => lisp.program.threads()),
  "list-threads with 10 frames": (lisp) => repeatedly(() => lisp.program.threads({ frames: 10 })),
  "inspect-object of the server": async (lisp) => {
    const [id = 0] = await ids(lisp, "serving::*acceptor*");
    await repeatedly(() => lisp.program.inspectObject(id, { depth: 2 }));
  },
  "heap summary without collection": (lisp) => repeatedly(() => lisp.program.heap.summary({ collect: false })),
  "heap summary with collection": (lisp) => repeatedly(() => lisp.program.heap.summary()),
  "heap path of the server": async (lisp) => {
    const [id = 0] = await ids(lisp, "serving::*acceptor*");
    await repeatedly(() => lisp.program.heap.path(id));
  },
  "trace-calls of 2 functions": async (lisp) => {
    const functions = ["serving::page", "serving::row"];
    await lisp.program.traceCalls({ seconds: WINDOW / 1000 }, { functions, limit: 100_000 }).result();
  },
  "profile-code cpu": (lisp) => profile(lisp, { mode: "cpu" }),
  "profile-code alloc": (lisp) => profile(lisp, { mode: "alloc" }),
  "profile-code calls of a package": (lisp) => profile(lisp, { mode: "calls", package: "serving" }),
};

/** @param {SwankClient} lisp @param {Parameters<SwankClient["program"]["profile"]>[1]} options */
async function profile(lisp, options) {
  await lisp.program.profile({ seconds: WINDOW / 1000 }, options).result();
}

/** @param {SwankClient} lisp @param {string} code @returns {Promise<string>} the first value */
async function run(lisp, code) {
  const outcome = await lisp.evaluate(code, { timeout: 120_000, valueLimit: 10_000_000 }).next();
  if (outcome.status !== "returned") throw new Error(`The evaluation was ${outcome.status}.`);
  return outcome.values[0] ?? "";
}

/** @param {SwankClient} lisp @param {string} code */
async function ids(lisp, code) {
  const outcome = await lisp.evaluate(code, { valuesAs: "ids" }).next();
  if (outcome.status !== "returned") throw new Error(`The evaluation was ${outcome.status}.`);
  return outcome.values.map(Number);
}

/** @param {() => Promise<unknown>} look */
async function repeatedly(look) {
  for (const end = performance.now() + WINDOW; performance.now() < end; await setTimeout(PAUSE)) await look();
}

/**
 * @param {string} name
 * @param {() => Promise<unknown>} look
 * @param {Load} load
 * @returns {Promise<import("../measure.mjs").Figure[]>}
 */
async function cost(name, look, load) {
  announce(`  serving during ${name}`);
  await look();
  /** @type {[number[], number[], number[]]} */
  const rates = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    rates[0].push(await load.rate(() => setTimeout(WINDOW)));
    rates[1].push(await load.rate(look));
    rates[2].push(await load.rate(() => setTimeout(WINDOW)));
  }
  const [before, during, after] = [median(rates[0]), median(rates[1]), median(rates[2])];
  const against = `before (${Math.round(before)} a second)`;
  return [
    {
      name: `serving during ${name}`,
      value: during / before,
      unit: "ratio",
      of: `${Math.round(during)} a second`,
      against,
    },
    {
      name: `serving after ${name}`,
      value: after / before,
      unit: "ratio",
      of: `${Math.round(after)} a second`,
      against,
    },
  ];
}

/** Clients that request a page again and again. */
class Load {
  #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  #answered = 0;
  #isOver = false;
  /** @type {Promise<void>[]} */
  #clients = [];

  /** @param {number} port */
  start(port) {
    this.#clients = Array.from({ length: CONNECTIONS }, () => this.#client(port));
  }

  /**
   * @param {() => Promise<unknown>} work
   * @returns {Promise<number>} answers a second while it runs
   */
  async rate(work) {
    const [began, before] = [performance.now(), this.#answered];
    await work();
    return (1000 * (this.#answered - before)) / (performance.now() - began);
  }

  async stop() {
    this.#isOver = true;
    await Promise.allSettled(this.#clients);
    this.#agent.destroy();
  }

  /** @param {number} port */
  async #client(port) {
    while (!this.#isOver) {
      await this.#page(port);
      this.#answered += 1;
    }
  }

  /** @param {number} port @returns {Promise<void>} */
  #page(port) {
    return new Promise((resolve, reject) => {
      get({ host: "127.0.0.1", port, agent: this.#agent }, (response) => {
        response.resume();
        response.once("end", resolve);
      }).once("error", reject);
    });
  }
}
