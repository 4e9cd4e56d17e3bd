// The page of a view: positions of all samples, colored by class, any feature, or how well each is placed.

import { h, panel, choice } from "./dom.js";
import { scaleOf, valuesOf } from "./colors.js";
import { Scatter } from "./scatter.js";
import { tableColumns, samplePanel, selectionPanel, tablePanel, legend } from "./panels.js";

export function viewPage(doc, store) {
  const columns = [...tableColumns(doc), ...(doc.view.quality ?? [])];
  const options = columns.map((column, j) => ({ value: String(j), text: column.name, group: column.group ?? "" }));
  let [values, scale] = [null, { color: () => [0, 114, 178] }];
  const scatter = new Scatter(store, doc.view.positions, (i) => scale.color(values ? values[i] : 0), {
    label: doc.title, name: (i) => doc.samples.names[i],
  });
  const key = h("div");
  const color = (j) => {
    if (!columns.length) return;
    values = valuesOf(columns[j]);
    scale = scaleOf(columns[j]);
    key.replaceChildren(legend(scale, store, values));
    scatter.draw();
  };
  color(0);
  return [
    panel("View", { class: "panel main" },
      columns.length ? choice("Color", options, "0", (j) => color(Number(j))) : null, scatter.element, key),
    samplePanel(doc, store),
    selectionPanel(doc, store),
    tablePanel(doc, store),
  ];
}
