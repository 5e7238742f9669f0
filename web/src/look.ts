import { MediaQuery } from "svelte/reactivity";

const queries = [new MediaQuery("(prefers-color-scheme: dark)"), new MediaQuery("print")];

/** Whether there is room for one variant only beside another: web/src/page.css. */
export const narrow = new MediaQuery("max-width: 48rem");

/** Changes with what colors depend on: canvases, which styles do not reach, are drawn anew then. */
export const look = (): boolean[] => queries.map((query) => query.current);
