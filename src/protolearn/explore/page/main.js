// Unpack the data, and build the page that they are for.

import { unpack } from "./data.js";
import { h, followSystem } from "./dom.js";
import { Store } from "./store.js";
import { header } from "./panels.js";
import { mapPage } from "./maps.js";
import { classifierPage } from "./classifiers.js";
import { viewPage } from "./views.js";

const PAGES = { map: mapPage, classifier: classifierPage, view: viewPage };
const root = document.getElementById("page");

followSystem();
try {
  const source = document.getElementById("data");
  const doc = await unpack(source.textContent);
  source.remove();
  const store = new Store(doc.samples.names.length);
  root.append(header(doc, store), h("main", { class: doc.kind }, PAGES[doc.kind](doc, store)),
    h("footer", {}, h("p", {}, doc.footer)));
  window.protolearn = { doc, store }; // for tests, and for the curious
} catch (error) {
  root.append(h("p", { role: "alert" }, `This page could not be shown: ${error.message}. It requires a browser from 2023 or later.`));
  throw error;
} finally {
  root.removeAttribute("aria-busy");
}
