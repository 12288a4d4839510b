import { html, nothing, type TemplateResult } from "lit-html";
import type { PageImage, PageState } from "../../src/page/model.js";
import type { Connectedness } from "./connection.js";
import { bytes, count } from "./format.js";
import { bar } from "./icons.js";

const CONNECTION: Readonly<Record<Connectedness, readonly [state: string, word: string, why: string]>> = {
  connecting: ["wait", "connecting", "The page connects to the server."],
  live: ["ok", "live", "The page shows everything as it happens."],
  reconnecting: ["wait", "reconnecting", "The connection was lost. The page will catch up."],
  ended: ["bad", "the server has ended", "Start it again, and open the address that it prints."],
};

/** While the server is there, and its image is not. */
const WITHOUT_IMAGE = ["wait", "no image", "The page is connected to its server, but the server to no image."] as const;

const IMAGE: Readonly<Record<PageImage["state"], string>> = {
  none: "no image yet",
  connecting: "connecting to the image",
  open: "Lisp",
  lost: "image lost",
};

/** The head of the page: the connection, the image, its memory, threads and clients. */
export function headView(
  state: PageState | undefined,
  connection: Connectedness,
  showKeys: () => void,
): TemplateResult {
  const isLost = connection === "live" && state?.image.state === "lost";
  const [kind, word, why] = isLost ? WITHOUT_IMAGE : CONNECTION[connection];
  return html`<header class="head">
    <h1><span class="mark" aria-hidden="true">λ</span> <span class="title">swank-mcp</span></h1>
    ${state === undefined ? nothing : imageView(state.image)}
    <span class="head-end">
      ${state?.server.isReadOnly === true ? html`<span class="badge">read-only</span>` : nothing}
      <span class="connection is-${kind}" role="status" title=${why}><i class="dot"></i>${word}</span>
      <button class="button ghost" @click=${showKeys} aria-label="Keys" title="Keys (?)">?</button>
    </span>
  </header>
  ${isLost && state.image.why !== undefined ? html`<p class="banner" role="alert"><b>There is no connection to the image.</b> ${state.image.why}</p>` : nothing}
  ${connection === "ended" ? html`<p class="banner" role="alert"><b>The server has ended.</b> This is what it said last. ${why}</p>` : nothing}`;
}

function imageView(image: PageImage): TemplateResult {
  return html`<dl class="facts" aria-label="Image">
    ${fact(
      "Image",
      html`<span class="image is-${image.state}"><i class="dot"></i>${
        image.state === "open" ? (image.implementation ?? IMAGE.open) : IMAGE[image.state]
      }</span>`,
      image.why,
    )}
    ${image.why === undefined || image.state === "lost" ? nothing : fact("Why", image.why, image.why, "why")}
    ${image.package === undefined ? nothing : fact("Package", html`<code>${image.package}</code>`)}
    ${image.memory === undefined ? nothing : fact("Heap", memoryView(image.memory))}
    ${image.threads === undefined ? nothing : fact("Threads", count(image.threads, "thread"))}
    ${image.clients === undefined ? nothing : fact("Clients", count(image.clients, "client"))}
    ${
      image.address === undefined
        ? nothing
        : fact(
            "Address",
            html`<code>${image.address}</code>${image.pid === undefined ? nothing : html` pid ${image.pid}`}`,
            undefined,
            "minor",
          )
    }
  </dl>`;
}

function fact(label: string, value: unknown, title?: string, className = ""): TemplateResult {
  return html`<div class=${className} title=${title ?? nothing}><dt>${label}</dt><dd>${value}</dd></div>`;
}

function memoryView({ used, size }: { readonly used: number; readonly size: number }): TemplateResult {
  const text = `${bytes(used)} of ${bytes(size)}`;
  return html`${bar(size === 0 ? 0 : used / size, `Heap: ${text}`)}<span>${text}</span>`;
}
