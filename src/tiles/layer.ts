import { hasEscape, textOf } from '../formats/attributes.js';
import { copyBytes } from '../model/memory.js';
import { EXTENT } from './grid.js';

/** What a property of a feature may be; numbers are whole. */
export type Value = string | number | boolean;

/** The number under which a layer has a key or a value. */
export type Place = number & { readonly brand?: 'place in a layer' };

/** Bytes of a number of at most 2^53. */
const MOST_VARINT = 8;
/** Bytes of the header of a field: its number, and its length below 2^28. */
const MOST_HEADER = 5;

const VARINT = 0;
const LENGTH_DELIMITED = 2;

// numbers of the fields of Mapbox Vector Tiles 2.1
const TILE_LAYER = 3;
const LAYER = { name: 1, feature: 2, key: 3, value: 4, extent: 5, version: 15 } as const;
const FEATURE = { id: 1, tags: 2, type: 3, geometry: 4 } as const;
const VALUE = { text: 1, positive: 5, negative: 6, flag: 7 } as const;
const POINT = 1;
const MOVE_TO = (1 << 3) | 1;

/** Of the properties of one feature, of which there are fewer than 16. */
const MOST_TAG_BYTES = 16 * 2 * MOST_VARINT;
/** What a layer has besides features and values takes hardly more. */
const ABOUT_BYTES = 128;

/** Ids of points begin with 1. */
const NO_ID = 0;

/** Writes one layer of points. A key stands in it once, however many features have it. */
export class LayerWriter {
  readonly #name: string;
  readonly #keys: string[] = [];
  /** The fields of all features, and those of all values. */
  readonly #features: ProtobufWriter;
  readonly #values: ProtobufWriter;
  #count = 0;
  readonly #shared = new Map<Value, Place>();
  #id = NO_ID;
  /** Keys and values of the feature in turn, as they are written. */
  readonly #tags: Uint8Array = Buffer.allocUnsafe(MOST_TAG_BYTES);
  #tagBytes = 0;

  /** `featureBytes` and `valueBytes` are what all features and values take, more or less. */
  constructor(name: string, featureBytes?: number, valueBytes?: number) {
    this.#name = name;
    this.#features = new ProtobufWriter(featureBytes);
    this.#values = new ProtobufWriter(valueBytes);
  }

  /** Adds a key, which the layer must not have yet. */
  key(name: string): Place {
    return this.#keys.push(name) - 1;
  }

  /** The place of a value that other features may have, too. */
  shared(value: Value): Place {
    let place = this.#shared.get(value);
    if (place === undefined) {
      place = this.own(value);
      this.#shared.set(value, place);
    }
    return place;
  }

  /** The place of a value that hardly any other feature has: it is not looked for. */
  own(value: Value): Place {
    if (typeof value === 'string') {
      const bytes = Buffer.from(value);
      return this.ownText(bytes, 0, bytes.length);
    }
    if (typeof value === 'boolean') return this.#putNumber(VALUE.flag, +value);
    return this.ownNumber(value);
  }

  /** The same for a whole number. */
  ownNumber(value: number): Place {
    if (value >= 0) return this.#putNumber(VALUE.positive, value);
    // zigzag: the sign comes last
    return this.#putNumber(VALUE.negative, -2 * value - 1);
  }

  #putNumber(field: number, value: number): Place {
    const values = this.#values;
    values.reserve(MOST_HEADER + 1 + MOST_VARINT);
    const { bytes } = values;
    const end = putHeader(bytes, values.end, LAYER.value, 1 + sizeOf(value));
    bytes[end] = tagOf(field, VARINT);
    values.end = putVarint(bytes, end + 1, value);
    return this.#count++;
  }

  /** The place of a text of its own: UTF-8, bytes `from` to `to - 1`. */
  ownText(source: Uint8Array, from: number, to: number): Place {
    const values = this.#values;
    const length = to - from;
    values.reserve(length + 2 * MOST_HEADER);
    const { bytes } = values;
    const end = putHeader(bytes, values.end, LAYER.value, 1 + sizeOf(length) + length);
    values.end = copyBytes(source, from, to, bytes, putHeader(bytes, end, VALUE.text, length));
    return this.#count++;
  }

  /** The same for a text as JSON has it between its quotes. */
  ownJsonText(source: Uint8Array, from: number, to: number): Place {
    if (!hasEscape(source, from, to)) return this.ownText(source, from, to);
    return this.own(textOf(source, from, to));
  }

  begin(id: number = NO_ID): void {
    this.#id = id;
    this.#tagBytes = 0;
  }

  property(key: Place, value: Place): void {
    const tags = this.#tags;
    this.#tagBytes = putVarint(tags, putVarint(tags, this.#tagBytes, key), value);
  }

  /** Ends a feature with where it is, in units of the tile from its north-western corner. */
  end(east: number, south: number): void {
    const writer = this.#features;
    const id = this.#id;
    const tags = this.#tags;
    const tagBytes = this.#tagBytes;
    const place = 1 + sizeOf(2 * east) + sizeOf(2 * south);
    const idBytes = id === NO_ID ? 0 : 1 + sizeOf(id);
    const length = idBytes + 1 + sizeOf(tagBytes) + tagBytes + 2 + 2 + place;
    writer.reserve(length + MOST_HEADER);
    const { bytes } = writer;
    let end = putHeader(bytes, writer.end, LAYER.feature, length);
    if (id !== NO_ID) {
      bytes[end] = tagOf(FEATURE.id, VARINT);
      end = putVarint(bytes, end + 1, id);
    }
    end = putHeader(bytes, end, FEATURE.tags, tagBytes);
    for (let i = 0; i < tagBytes; i++) bytes[end++] = tags[i]!;
    bytes[end++] = tagOf(FEATURE.type, VARINT);
    bytes[end++] = POINT;
    end = putHeader(bytes, end, FEATURE.geometry, place);
    bytes[end++] = MOVE_TO;
    end = putVarint(bytes, end, 2 * east);
    writer.end = putVarint(bytes, end, 2 * south);
  }

  /** Adds the layer to the parts of a tile, which make it when they stand one behind the other. */
  finish(tile: Uint8Array[]): void {
    const about = new ProtobufWriter(ABOUT_BYTES);
    about.number(LAYER.version, 2);
    about.text(LAYER.name, this.#name);
    for (const key of this.#keys) about.text(LAYER.key, key);
    about.number(LAYER.extent, EXTENT);
    const length = about.end + this.#features.end + this.#values.end;
    const head = Buffer.allocUnsafe(MOST_HEADER);
    tile.push(head.subarray(0, putHeader(head, 0, TILE_LAYER, length)));
    tile.push(about.finish(), this.#features.finish(), this.#values.finish());
  }
}

/** Adds a layer that tells of the tile itself, as one feature in its middle. */
export function writeMeta(tile: Uint8Array[], facts: Readonly<Record<string, number>>): void {
  const layer = new LayerWriter('meta');
  layer.begin();
  for (const [name, value] of Object.entries(facts)) {
    layer.property(layer.key(name), layer.shared(value));
  }
  layer.end(EXTENT / 2, EXTENT / 2);
  layer.finish(tile);
}

/** Writes the protocol buffers that tiles are made of, into memory that grows. */
class ProtobufWriter {
  /** What is written, and room: {@link reserve} may put other memory in its place. */
  bytes: Uint8Array;
  end = 0;

  /** `bytes` is what will be written, more or less: memory that grows is copied. */
  constructor(bytes: number = FIRST_BYTES) {
    // from Node's pool where it is little: fresh memory takes longer than a small tile
    this.bytes = Buffer.allocUnsafe(bytes);
  }

  finish(): Uint8Array {
    return this.bytes.subarray(0, this.end);
  }

  number(field: number, value: number): void {
    this.reserve(MOST_HEADER + MOST_VARINT);
    this.bytes[this.end++] = tagOf(field, VARINT);
    this.end = putVarint(this.bytes, this.end, value);
  }

  text(field: number, value: string): void {
    const bytes = Buffer.from(value);
    this.reserve(MOST_HEADER + bytes.length);
    this.end = putHeader(this.bytes, this.end, field, bytes.length);
    this.bytes.set(bytes, this.end);
    this.end += bytes.length;
  }

  reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.bytes.length, this.end + more));
    larger.set(this.finish());
    this.bytes = larger;
  }
}

const FIRST_BYTES = 1_024;

/** The byte that a field begins with; there are 15 fields at most. */
function tagOf(field: number, type: number): number {
  return field * 8 + type;
}

/** How many bytes a whole number from 0 to 2^53 takes. */
function sizeOf(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < 0x10000000) return 4;
  return value < 0x800000000 ? 5 : value < 0x40000000000 ? 6 : value < 0x2000000000000 ? 7 : 8;
}

/** Writes a whole number from 0 to 2^53; returns where it ends. There must be room for it. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  // bits are of 32-bit numbers only
  while (rest >= 0x80000000) {
    bytes[end++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

/** Writes what a field of `length` bytes begins with; returns where it ends. */
function putHeader(bytes: Uint8Array, at: number, field: number, length: number): number {
  bytes[at] = tagOf(field, LENGTH_DELIMITED);
  return putVarint(bytes, at + 1, length);
}
