import { svelte } from "@sveltejs/vite-plugin-svelte";
import { parse } from "smol-toml";
import { type Plugin, defineConfig } from "vite";

/** The stories are TOML, read when the page is built. */
const toml: Plugin = {
  name: "toml",
  enforce: "pre",
  transform(text, id) {
    return id.endsWith(".toml") ? { code: `export default ${JSON.stringify(parse(text))}`, map: null } : undefined;
  },
};

export default defineConfig({
  base: "./", // any folder of any host
  plugins: [toml, svelte()],
  build: {
    outDir: "../python/bufferlab/web/page",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy allows no data: addresses
    modulePreload: false,
    chunkSizeWarningLimit: 700, // a test bounds all files together, compressed
    target: "es2023",
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  worker: { format: "es" },
  server: { fs: { allow: [".."] } },
});
