import { expect } from "chai";
import { planLisp } from "../../../scripts/setup/lisp-plan.mjs";

const DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n';
const UBUNTU = "ID=ubuntu\nID_LIKE=debian\n";
const MINT = 'ID=linuxmint\nID_LIKE="ubuntu debian"\n';
const FEDORA = "ID=fedora\nVERSION_ID=41\n";
const ARCH = "ID=arch\n";

/**
 * @param {Partial<import("../../../scripts/setup/lisp-plan.mjs").Machine>} differences
 * @returns {import("../../../scripts/setup/lisp-plan.mjs").Machine}
 */
function machine(differences) {
  return {
    platform: "linux",
    osRelease: DEBIAN,
    uid: 1000,
    isTTY: true,
    hasSudo: true,
    missing: ["sbcl", "swank"],
    ...differences,
  };
}

/** @param {Partial<import("../../../scripts/setup/lisp-plan.mjs").Machine>} differences */
function messageOf(differences) {
  const plan = planLisp(machine(differences));
  expect(plan.action).to.equal("stop");
  return plan.action === "stop" ? plan.message : "";
}

describe("the plan for missing programs", () => {
  it("does nothing when nothing is missing, on any system", () => {
    for (const platform of /** @type {const} */ (["linux", "darwin", "win32", "freebsd"])) {
      expect(planLisp(machine({ platform, missing: [] }))).to.deep.equal({ action: "nothing" });
    }
  });

  for (const [name, osRelease] of Object.entries({ DEBIAN, UBUNTU, MINT })) {
    it(`installs as root on ${name} without asking, updating the lists first`, () => {
      expect(planLisp(machine({ osRelease, uid: 0, isTTY: false, hasSudo: false }))).to.deep.equal({
        action: "install",
        ask: false,
        packages: ["sbcl", "cl-swank"],
        commands: [
          ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "update"],
          [
            "env",
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "install",
            "-y",
            "--no-install-recommends",
            "sbcl",
            "cl-swank",
          ],
        ],
      });
    });
  }

  it("installs only what is missing", () => {
    expect(planLisp(machine({ uid: 0, missing: ["swank"] }))).to.deep.include({
      packages: ["cl-swank"],
    });
    expect(planLisp(machine({ uid: 0, missing: ["sbcl"] }))).to.deep.include({ packages: ["sbcl"] });
    expect(planLisp(machine({ uid: 0, missing: ["emacs", "slime"] }))).to.deep.include({
      packages: ["emacs-nox", "slime"],
    });
  });

  it("asks another user first, and installs with sudo", () => {
    const plan = planLisp(machine({}));
    expect(plan).to.deep.include({ action: "install", ask: true });
    expect(plan.action === "install" && plan.commands.every(([program]) => program === "sudo")).to.equal(true);
  });

  it("stops with Debian's commands when the user cannot be asked or there is no sudo", () => {
    for (const differences of [{ isTTY: false }, { hasSudo: false }]) {
      const message = messageOf(differences);
      expect(message).to.include("  sudo apt-get update\n  sudo apt-get install -y sbcl cl-swank\n");
    }
  });

  it("stops with the system's own commands elsewhere, for root too", () => {
    expect(messageOf({ osRelease: FEDORA, uid: 0 }))
      .to.include("sudo dnf install -y sbcl")
      .and.include("ql:quickload");
    expect(messageOf({ osRelease: ARCH, uid: 0 }))
      .to.include("sudo pacman -S --needed sbcl")
      .and.include("ql:quickload");
    expect(messageOf({ platform: "darwin", osRelease: "" }))
      .to.include("brew install sbcl")
      .and.include("ql:quickload");
    expect(messageOf({ platform: "win32", osRelease: "", uid: undefined })).to.include("sbcl.org");
    expect(messageOf({ osRelease: "ID=alpine\n", uid: 0 })).to.include("sbcl.org");
  });

  it("names only what is missing", () => {
    const message = messageOf({ osRelease: FEDORA, missing: ["swank"] });
    expect(message).to.include("Swank (SLIME's Lisp side) is missing").and.not.include("dnf");
  });
  it("lists the commands for Emacs and SLIME on each system", () => {
    const missing = /** @type {const} */ (["emacs", "slime"]);
    expect(messageOf({ missing, isTTY: false })).to.include("  sudo apt-get install -y emacs-nox slime\n");
    for (const [osRelease, emacs] of [
      [FEDORA, "sudo dnf install -y emacs-nox"],
      [ARCH, "sudo pacman -S --needed emacs-nox"],
      ["ID=alpine\n", "gnu.org/software/emacs"],
    ]) {
      const message = messageOf({ missing, osRelease: osRelease ?? "" });
      expect(message)
        .to.match(/^Emacs \(for the tests\) and SLIME in Emacs \(for the tests\) are missing\./)
        .and.include(emacs)
        .and.include("(package-install 'slime)")
        .and.not.include("sbcl");
    }
    expect(messageOf({ missing, platform: "darwin", osRelease: "" })).to.include("brew install emacs");
  });

  it("lists the command for a browser", () => {
    expect(messageOf({ missing: ["chromium"], isTTY: false })).to.include("  sudo apt-get install -y chromium\n");
    expect(messageOf({ missing: ["chromium"], osRelease: FEDORA })).to.include("playwright-core install chromium");
  });

  it("lists the command for ECL", () => {
    expect(messageOf({ missing: ["ecl"], isTTY: false })).to.include("  sudo apt-get install -y ecl\n");
    expect(messageOf({ missing: ["ecl"], osRelease: FEDORA })).to.include("ecl.common-lisp.dev");
  });
});
