/** The laboratory as a widget of notebooks: a module as anywidget takes it (python/bufferlab/web/widget.py). */

import * as Comlink from "comlink";
import { mount, unmount } from "svelte";
import plotStyle from "uplot/dist/uPlot.min.css?inline";
import Lab from "./Lab.svelte";
import LabWorker from "./engine/worker.ts?worker&inline";
import { startWith } from "./engine/host";
import type { Asked } from "./engine/types";
import type { Runner } from "./engine/worker";
import pageStyle from "./page.css?inline";

interface Model {
  get(name: "variants"): Asked[];
  get(name: "engine"): DataView | ArrayBuffer;
  on(event: string, then: () => void): void;
  off(event: string, then: () => void): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const bytes = model.get("engine");
  const engine = new Uint8Array(bytes instanceof ArrayBuffer ? bytes : bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)) as Uint8Array<ArrayBuffer>;
  startWith(() => {
    const worker = new LabWorker();
    const runner = Comlink.wrap<Runner>(worker);
    void runner.load(engine);
    return { worker, runner };
  });
  // a tree of its own: the page's style and the notebook's do not meet
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = `${plotStyle}${pageStyle.replace(":root", ":host")}:host { display: block; padding: 0.5rem; }`;
  const target = document.createElement("main");
  root.replaceChildren(style, target);
  let shown: object | null = null;
  const show = (): void => {
    if (shown) void unmount(shown);
    shown = mount(Lab, { target, props: { given: model.get("variants").map((each) => ({ ...each, overrides: { ...each.overrides } })) } });
  };
  show();
  model.on("change:variants", show);
  return () => {
    model.off("change:variants", show);
    if (shown) void unmount(shown);
  };
}

export default { render };
