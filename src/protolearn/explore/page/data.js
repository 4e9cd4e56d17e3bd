// The data of the page: JSON with references to arrays, and the bytes of these, as _payload.py writes them.

const ARRAYS = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array,
  float32: Float32Array, float64: Float64Array,
};

export async function unpack(text) {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot unpack compressed data");
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const all = await new Response(stream).arrayBuffer();
  const length = new DataView(all).getUint32(0, true);
  const json = new TextDecoder().decode(new Uint8Array(all, 4, length));
  return JSON.parse(json, (key, value) => {
    if (!value || typeof value !== "object" || !value["#"]) return value;
    const [type, place, shape] = value["#"];
    const array = new ARRAYS[type](all, 4 + length + place, shape.reduce((a, b) => a * b, 1));
    array.shape = shape;
    return array;
  });
}
