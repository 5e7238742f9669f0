import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./", // any folder of any host
  plugins: [svelte()],
  build: {
    outDir: "../python/bufferlab/web/page",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy allows no data: addresses
    modulePreload: false,
    target: "es2023",
  },
  worker: { format: "es" },
  server: { fs: { allow: [".."] } },
});
