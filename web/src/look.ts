import { MediaQuery } from "svelte/reactivity";

const queries = [new MediaQuery("(prefers-color-scheme: dark)"), new MediaQuery("print")];

/** Changes with what colors depend on: canvases, which styles do not reach, are drawn anew then. */
export const look = (): boolean[] => queries.map((query) => query.current);
