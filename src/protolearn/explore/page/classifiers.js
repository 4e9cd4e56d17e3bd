// The page of a classifier.

export function classifierPage(doc, store) {
  return [];
}
