// A host of MCP Apps in a browser, made of the official AppBridge. `connection` is what the test's process gives it: it has the MCP client.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const INFO = { name: "test-host", version: "0" };

window.told = [];

window.showApp = async ({ html, args, result }) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("width", "800");
  frame.setAttribute("height", "700");
  // The policy that a host gives an app which names no other.
  frame.srcdoc = html.replace(
    "<head>",
    `<head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'">`,
  );
  const capabilities = { serverTools: {}, updateModelContext: { text: {} } };
  const bridge = new AppBridge(null, INFO, capabilities, { hostContext: { theme: "light", displayMode: "inline" } });
  bridge.oncalltool = (call) => window.callTool(call);
  bridge.onupdatemodelcontext = async ({ content }) => {
    window.told.push(content[0].text);
    return {};
  };
  bridge.onsizechange = ({ height }) => {
    window.height = height;
  };
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  document.body.replaceChildren(frame);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await initialized;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(result);
};
