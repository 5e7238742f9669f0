import * as Comlink from "comlink";
import { mount } from "svelte";
import "uplot/dist/uPlot.min.css";
import "./page.css";
import wasm from "../engine/lab.wasm?url";
import App from "./App.svelte";
import { startWith } from "./engine/host";
import type { Runner } from "./engine/worker";

startWith(() => {
  const worker = new Worker(new URL("./engine/worker.ts", import.meta.url), { type: "module" });
  const runner = Comlink.wrap<Runner>(worker);
  void runner.load(new URL(wasm, window.location.href).href);
  return { worker, runner };
});

const target = document.getElementById("app");
if (target) {
  target.replaceChildren();
  mount(App, { target });
}
