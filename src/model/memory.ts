import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

type Numbers = Uint16Array | Int32Array | Uint32Array | Float64Array;

/** Zeros in memory that threads share. */
export function sharedArray<T extends Numbers>(
  Type: { new (memory: SharedArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
  length: number,
): T {
  return new Type(new SharedArrayBuffer(length * Type.BYTES_PER_ELEMENT));
}

/** A closed port drops what is sent to it, with the memory that is transferred. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

/** Frees memory at once: by the next garbage collection a build would have taken as much again. */
export function release(...arrays: readonly ArrayBufferView[]): void {
  nowhere.postMessage(
    undefined,
    arrays.map(({ buffer }) => buffer as ArrayBuffer),
  );
}

/**
 * Called at their start by threads that answer for others, whose answers they transfer. At a
 * thread's first transfer V8 drops its code for typed arrays, of which there is none yet then; from
 * there on it asks of each whether it was detached. Without that kernels take 0.85 times as long.
 */
export function expectTransfers(): void {
  release(new Uint8Array(1));
}

/**
 * Encloses bytes for threads that pass them on unopened: from the first memory on that a thread
 * transfers itself, its typed arrays are slower.
 */
export function enclose(bytes: Uint8Array<ArrayBuffer>): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(bytes, [bytes.buffer]);
  return port2;
}

/** What {@link enclose} enclosed; to be called once, also where nobody wants the bytes any more. */
export function disclose(port: MessagePort): Uint8Array<ArrayBuffer> {
  const { message } = receiveMessageOnPort(port)!;
  port.close();
  return message;
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

/** From this many bytes on a view and `set` are quicker than copying byte by byte. */
const LEAST_SET = 64;

/** Copies bytes `from` to `to - 1`; returns their end in `target`. */
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

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Joins parts in memory of their own, which can be transferred to another thread. */
export function joinedBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return ownedBytes(Buffer.concat(parts));
}

/** The bytes themselves, or a copy where they share their memory with others, as small buffers do. */
export function ownedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isOwner = bytes.buffer.byteLength === bytes.byteLength;
  return isOwner ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
