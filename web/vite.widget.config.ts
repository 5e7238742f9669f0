import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

/** One file with all that a notebook's widget needs but the engine, which comes as bytes. */
export default defineConfig({
  plugins: [svelte()],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../python/bufferlab/web/widget",
    emptyOutDir: true,
    target: "es2023",
    lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "widget.js" },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  worker: { format: "es" },
});
