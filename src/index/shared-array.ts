type Numbers = Uint16Array | Int32Array | Uint32Array | Float64Array;

/** Noughts in memory that every thread it is posted to sees, without a copy. */
export function sharedArray<T extends Numbers>(
  Type: { new (memory: SharedArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
  length: number,
): T {
  return new Type(new SharedArrayBuffer(length * Type.BYTES_PER_ELEMENT));
}

export function joinedArray<T extends Numbers>(
  Type: { new (memory: SharedArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
  one: T,
  other: T,
): T {
  const joined = sharedArray(Type, one.length + other.length);
  joined.set(one);
  joined.set(other, one.length);
  return joined;
}
