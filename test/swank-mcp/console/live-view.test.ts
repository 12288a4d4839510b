import { expect } from "chai";
import { LiveView } from "#swank-mcp/console/console.js";
import { Screen } from "../../support/screen.js";

describe("LiveView", () => {
  it("replaces a text by the next, and cuts both to the screen", () => {
    const screen = new Screen();
    let written = "";
    const view = new LiveView(
      ",heap\n  :x",
      2,
      () => ({ rows: 5, columns: 20 }),
      (text) => {
        written = text;
        screen.write(text.replaceAll("\n", "\r\n"));
      },
    );
    screen.write("before\r\n");
    view.show("a\nb\nc\nd");
    expect(screen.text).to.equal("before\n,heap :x (every 2 s\na\nb\n(2 more lines)\n");
    view.show("\ta long line that is cut\u001b[2J");
    expect(screen.text).to.equal("before\n,heap :x (every 2 s\n    a long line tha\n");
    expect(written).not.to.include("[2J");
    view.end("1\n2\n3\n4\n5\n6");
    expect(screen.text).to.equal("before\n,heap :x (every 2 seconds; Ctrl-C ends)\n1\n2\n3\n4\n5\n6\n");
  });
});
