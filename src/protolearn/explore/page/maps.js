// The page of a topographic map.

export function mapPage(doc, store) {
  return [];
}
