import { BesideEmacs, EmacsPool } from "../support/beside-emacs.js";
import type { Emacs } from "../support/emacs.js";
import { followsAgents, useSwankMcp } from "../support/swank-mcp-el.js";

/** Gives each test of the suite an image with a user's Emacs, which may be prepared. The Emacs has served earlier tests, and is as new. */
export function eachUser(prepare?: (emacs: Emacs) => Promise<unknown>): () => BesideEmacs {
  const pool = new EmacsPool();
  let user: BesideEmacs | undefined;
  beforeEach(async () => {
    user = await BesideEmacs.connected(pool);
    await prepare?.(user.emacs);
  });
  afterEach(() => user?.end());
  after(() => pool.end());
  return () => present(user);
}

/** Gives all tests of the suite one. */
export function oneUser(start = () => BesideEmacs.connected()): () => BesideEmacs {
  let user: BesideEmacs | undefined;
  before(async () => {
    user = await start();
  });
  after(() => user?.end());
  return () => present(user);
}

function present(user: BesideEmacs | undefined): BesideEmacs {
  if (user === undefined) throw new Error("The user is there while a test runs.");
  return user;
}

/** Has an Emacs that is connected load swank-mcp.el, and waits until it follows the agents. */
export async function following(emacs: Emacs): Promise<void> {
  await useSwankMcp(emacs);
  await followsAgents(emacs);
}
