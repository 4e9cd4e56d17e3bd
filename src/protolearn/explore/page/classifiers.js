// The page of a classifier.

import { h } from "./dom.js";
import { Classifier } from "./lvq.js";

export function classifierPage(doc, store) {
  doc.model = new Classifier(doc.classifier, doc.samples.columns, doc.samples.names.length);
  return [h("p", {}, "x")];
}
