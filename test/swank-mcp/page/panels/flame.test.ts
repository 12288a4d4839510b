import { expect } from "chai";
import type { Looks } from "#swank-mcp/page/model.js";
import { flameOf, matchesOf, neighbourOf, packageOf, packagesOf, placedBoxes } from "#swank-mcp-page/panels/flame.js";

type Profile = Looks["profile"]["result"];

const nodes = [
  { depth: 0, name: "APP:A", samples: 60, self: 10 },
  { depth: 1, name: "APP:B", samples: 30, self: 30 },
  { depth: 1, name: "LIB:C", samples: 15, self: 5 },
  { depth: 2, name: "APP:B", samples: 10, self: 10 },
  { depth: 0, name: "APP:D", samples: 30, self: 30 },
];

const profile = (more: Partial<Profile>): Profile => ({
  mode: "cpu",
  end: "returned",
  samples: 100,
  outside: 10,
  elsewhere: [],
  functions: [],
  path: [],
  stacks: { nodes, omitted: 1 },
  cost: { real: 1, run: 1, gc: 0, bytes: 0 },
  looking: 0,
  interval: 4000,
  full: false,
  replaced: false,
  counts: undefined,
  values: [],
  comparison: undefined,
  ...more,
});

const boxNamed = (name: string) => {
  const flame = flameOf(profile({}));
  const box = flame.boxes.find((each) => each.name === name);
  if (box === undefined) throw new Error(`There is no box ${name}.`);
  return { flame, box };
};

describe("the flame graph of the page", () => {
  it("places each function below its caller, after the calls beside it", () => {
    const { boxes, isPath } = flameOf(profile({}));
    expect(isPath).to.equal(false);
    expect(
      boxes.map(({ name, depth, start, samples, parent }) => [name, depth, start, samples, parent?.name]),
    ).to.deep.equal([
      ["all samples", 0, 0, 100, undefined],
      ["APP:A", 1, 0, 60, "all samples"],
      ["APP:B", 2, 0, 30, "APP:A"],
      ["LIB:C", 2, 30, 15, "APP:A"],
      ["APP:B", 3, 30, 10, "LIB:C"],
      ["APP:D", 1, 60, 30, "all samples"],
    ]);
  });

  it("shows the hottest path where the stacks are not known", () => {
    const path = [
      { name: "A", samples: 80 },
      { name: "B", samples: 50 },
    ];
    const { boxes, isPath } = flameOf(profile({ stacks: undefined, path }));
    expect(isPath).to.equal(true);
    expect(boxes.map(({ name, depth, self }) => [name, depth, self])).to.deep.equal([
      ["all samples", 0, 10],
      ["A", 1, 30],
      ["B", 2, 50],
    ]);
  });

  it("fills the width with the zoomed box, below its callers", () => {
    const { box } = boxNamed("LIB:C");
    expect(placedBoxes(box).map(({ box: { name }, left, width, row }) => [name, left, width, row])).to.deep.equal([
      ["all samples", 0, 1, 0],
      ["APP:A", 0, 1, 1],
      ["LIB:C", 0, 1, 2],
      ["APP:B", 0, 10 / 15, 3],
    ]);
  });

  it("leaves out boxes that are too narrow to be seen", () => {
    const { flame } = boxNamed("APP:A");
    expect(placedBoxes(flame.root, 0.2).map(({ box: { name } }) => name)).to.deep.equal([
      "all samples",
      "APP:A",
      "APP:B",
      "APP:D",
    ]);
  });

  it("counts the samples below found boxes once", () => {
    const { flame } = boxNamed("APP:A");
    expect(matchesOf(flame, "app:").found.size).to.equal(4);
    expect(matchesOf(flame, "app:").samples).to.equal(90);
    expect(matchesOf(flame, "App:B").samples).to.equal(40);
    expect(matchesOf(flame, " ").found.size).to.equal(0);
    expect(matchesOf(flame, "all samples").samples).to.equal(0);
  });

  it("goes to callers, calls and siblings by the arrow keys", () => {
    const { box } = boxNamed("LIB:C");
    const names = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "x"].map((key) => neighbourOf(box, key)?.name);
    expect(names).to.deep.equal(["APP:A", "APP:B", "APP:B", undefined, undefined]);
    expect(neighbourOf(flameOf(profile({})).root, "ArrowRight")).to.equal(undefined);
  });

  it("has the packages with their samples, those of Lisp together and without a colour", () => {
    expect(packagesOf(flameOf(profile({})))).to.deep.equal([
      { name: "APP", self: 80, colour: 0 },
      { name: "LIB", self: 5, colour: 1 },
    ]);
    const many = Array.from({ length: 9 }, (_, index) => ({
      depth: 0,
      name: `P${index}:F`,
      samples: 9 - index,
      self: 9 - index,
    }));
    const lisp = { depth: 0, name: "SB-KERNEL:%FIND", samples: 30, self: 30 };
    const found = packagesOf(flameOf(profile({ stacks: { nodes: [lisp, ...many], omitted: 0 } })));
    expect(found.map(({ colour }) => colour)).to.deep.equal([
      undefined,
      0,
      1,
      2,
      3,
      4,
      5,
      undefined,
      undefined,
      undefined,
    ]);
    expect(found[0]?.name).to.equal("Lisp");
  });

  it("finds the package of functions, methods and local functions", () => {
    const names = ["SHOP:A", "(METHOD SHOP::RENDER (OTHER::PAGE))", "(FLET X :IN SHOP::Y)", "(SETF SHOP::A)"];
    expect(names.map(packageOf)).to.deep.equal(["SHOP", "SHOP", "SHOP", "SHOP"]);
    const ofLisp = ["LENGTH", "(SETF AREF)", "(FLET X :IN SORT)", "SB-KERNEL:%FIND", "(FLET X :IN SB-IMPL::Y)"];
    expect(ofLisp.map(packageOf)).to.deep.equal(ofLisp.map(() => "Lisp"));
    // A function of the user in CL-USER is not one of Lisp.
    const unqualified = ["NIGHTLY-REPORT", "(SETF PRICE)", "(FLET X :IN SHIP)"];
    expect(unqualified.map(packageOf)).to.deep.equal(unqualified.map(() => "CL-USER"));
    expect(packageOf("(LAMBDA (X))")).to.equal("unnamed functions");
    expect(packageOf("evaluated code")).to.equal("evaluated code");
  });
});
