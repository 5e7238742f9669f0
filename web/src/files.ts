/** Files that the page makes itself. */

/** Gives the reader a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const LINE = 20;
const GAP = 12;
const TITLE = "600 14px system-ui, sans-serif";
const LEGEND = "12px system-ui, sans-serif";
const MARKER = 14;
const BESIDE = 16;

interface Word {
  text: string;
  /** Of the square before it, if it has one. */
  color?: string;
}

/** All charts of a part of the page as one picture, with their titles and what their lines are. */
export async function chartsOf(part: Element): Promise<Blob> {
  const figures = [...part.querySelectorAll("figure")].flatMap((figure) => {
    const canvas = figure.querySelector("canvas");
    return canvas ? [{ figure, canvas }] : [];
  });
  const scale = window.devicePixelRatio || 1;
  const width = Math.max(...figures.map(({ canvas }) => canvas.width / scale), 1) + GAP;
  const measure = contextOf(document.createElement("canvas"));
  const parts = figures.map(({ figure, canvas }) => {
    const title = (figure.querySelector("figcaption")?.textContent ?? "").split(" ").map((text): Word => ({ text }));
    const room = width - GAP;
    return { canvas, title: lines(measure, TITLE, title, room), legend: lines(measure, LEGEND, legendOf(figure), room), height: canvas.height / scale };
  });
  const picture = document.createElement("canvas");
  picture.width = scale * width;
  picture.height = Math.max(1, scale * parts.reduce((sum, each) => sum + LINE * (each.title.length + each.legend.length) + each.height + GAP, 0));
  const context = contextOf(picture);
  const style = getComputedStyle(part);
  context.scale(scale, scale);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, picture.width, picture.height);
  context.textBaseline = "middle";
  let top = 0;
  const write = (font: string, lines: Word[][]): void => {
    context.font = font;
    for (const line of lines) {
      let left = GAP / 2;
      for (const { text, color } of line) {
        if (color) {
          context.fillStyle = color;
          context.fillRect(left, top + LINE / 2 - 5, 10, 10);
        }
        context.fillStyle = style.color;
        context.fillText(text, left + (color ? MARKER : 0), top + LINE / 2);
        left += widthOf(context, { text, ...(color ? { color } : {}) }, font);
      }
      top += LINE;
    }
  };
  for (const { canvas, title, legend, height } of parts) {
    write(TITLE, title);
    context.drawImage(canvas, 0, top, canvas.width / scale, height);
    top += height;
    write(LEGEND, legend);
    top += GAP;
  }
  return await new Promise((done, failed) => {
    picture.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))), "image/png");
  });
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws no pictures");
  return context;
}

function legendOf(figure: Element): Word[] {
  return [...figure.querySelectorAll(".u-legend .u-series")].map((line) => {
    const marker = line.querySelector<HTMLElement>(".u-marker");
    const text = line.querySelector(".u-label")?.textContent ?? "";
    return marker?.style.borderColor || marker?.style.border ? { text, color: getComputedStyle(marker).borderTopColor } : { text };
  });
}

/** How far the next word is from this one. */
function widthOf(context: CanvasRenderingContext2D, { text, color }: Word, font: string): number {
  return context.measureText(text).width + (font === TITLE ? context.measureText(" ").width : BESIDE) + (color ? MARKER : 0);
}

/** Words in lines that are no longer than there is room. */
function lines(context: CanvasRenderingContext2D, font: string, words: Word[], room: number): Word[][] {
  context.font = font;
  const found: Word[][] = [];
  let left = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const width = widthOf(context, word, font);
    if (left + width > room) {
      found.push([]);
      left = 0;
    }
    found.at(-1)?.push(word);
    left += width;
  }
  return found;
}

/** A notebook that runs a scenario and shows it. */
export function notebookOf(toml: string): string {
  // what JSON writes for a text is a text in Python, too
  const cells = [
    `import bufferlab\n\nscenario = bufferlab.Scenario.from_toml(\n    ${toml.split("\n").map((line) => JSON.stringify(`${line}\n`)).join("\n    ")}\n)`,
    "result = bufferlab.run(scenario)\nresult.summary()",
    "bufferlab.watch(scenario)",
  ];
  const cell = (source: string, index: number) => ({ cell_type: "code", id: `cell-${index}`, execution_count: null, metadata: {}, outputs: [], source });
  const kernelspec = { display_name: "Python 3", language: "python", name: "python3" };
  return JSON.stringify({ cells: cells.map(cell), metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 }, null, 1);
}
