type Numbers = Uint16Array | Int32Array | Uint32Array | Float64Array;

/** Noughts in memory that every thread it is posted to sees, without a copy. */
export function sharedArray<T extends Numbers>(
  Type: { new (memory: SharedArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
  length: number,
): T {
  return new Type(new SharedArrayBuffer(length * Type.BYTES_PER_ELEMENT));
}

/** What is sent to a port that is closed is thrown away, with the memory that goes with it. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

/**
 * Gives memory that nobody reads any more back at once: V8 would do so when it next looks for
 * garbage, and by then a build has taken as much again.
 */
export function release(...arrays: readonly ArrayBufferView[]): void {
  nowhere.postMessage(
    undefined,
    arrays.map(({ buffer }) => buffer as ArrayBuffer),
  );
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

/** A view and a call of `set` take as long as copying this many bytes one by one. */
const LEAST_SET = 64;

/** Copies bytes `from` to `to - 1`; returns where they end in `target`. */
export function copyBytes(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): number {
  const move = at - from;
  if (to - from < LEAST_SET) for (let i = from; i < to; i++) target[i + move] = source[i]!;
  else target.set(source.subarray(from, to), at);
  return to + move;
}
