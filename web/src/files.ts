/** Files that the page makes itself. */

/** Gives the reader a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const TITLE = 24;
const LEGEND = 22;
const GAP = 12;

/** All charts of a part of the page as one picture, with their titles and what their lines are. */
export async function chartsOf(part: Element): Promise<Blob> {
  const figures = [...part.querySelectorAll("figure")].flatMap((figure) => {
    const canvas = figure.querySelector("canvas");
    return canvas ? [{ figure, canvas }] : [];
  });
  const scale = window.devicePixelRatio || 1;
  const heights = figures.map(({ canvas }) => TITLE + canvas.height / scale + LEGEND + GAP);
  const picture = document.createElement("canvas");
  picture.width = Math.max(...figures.map(({ canvas }) => canvas.width), 1) + GAP * scale;
  picture.height = Math.max(1, scale * heights.reduce((sum, each) => sum + each, 0));
  const context = picture.getContext("2d");
  if (!context) throw new Error("this browser draws no pictures");
  const style = getComputedStyle(part);
  context.scale(scale, scale);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, picture.width, picture.height);
  context.textBaseline = "middle";
  let top = 0;
  figures.forEach(({ figure, canvas }, index) => {
    context.fillStyle = style.color;
    context.font = "600 14px system-ui, sans-serif";
    context.fillText(figure.querySelector("figcaption")?.textContent ?? "", GAP / 2, top + TITLE / 2);
    context.drawImage(canvas, 0, top + TITLE, canvas.width / scale, canvas.height / scale);
    context.font = "12px system-ui, sans-serif";
    let left = GAP / 2;
    const middle = top + TITLE + canvas.height / scale + LEGEND / 2;
    for (const line of figure.querySelectorAll(".u-legend .u-series")) {
      const marker = line.querySelector<HTMLElement>(".u-marker");
      const label = line.querySelector(".u-label")?.textContent ?? "";
      if (marker?.style.borderColor || marker?.style.border) {
        context.fillStyle = getComputedStyle(marker).borderTopColor;
        context.fillRect(left, middle - 5, 10, 10);
        left += 14;
      }
      context.fillStyle = style.color;
      context.fillText(label, left, middle);
      left += context.measureText(label).width + 16;
    }
    top += heights[index] ?? 0;
  });
  return await new Promise((done, failed) => {
    picture.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))), "image/png");
  });
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
