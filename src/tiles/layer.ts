import { hasEscape, textOf } from '../formats/attributes.js';
import { copyBytes } from '../model/memory.js';
import { EXTENT } from './grid.js';

/** A property of a feature; numbers are whole. */
type Value = string | number | boolean;

/** The number of a key or a value in a layer. */
export type Place = number & { readonly brand?: 'place in a layer' };

/** The most bytes of a number up to 2^53. */
const MOST_VARINT = 8;
/** The most bytes of the header of a field: its number, and a length below 2^28. */
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

/** Features have fewer than 16 properties. */
const MOST_TAG_BYTES = 16 * 2 * MOST_VARINT;
/** Some bytes more than a layer has besides features and values. */
const ABOUT_BYTES = 128;

/** Ids of points begin with 1. */
const NO_ID = 0;

export class LayerWriter {
  readonly #name: string;
  readonly #keys: string[] = [];
  readonly #features: ProtobufWriter;
  readonly #values: ProtobufWriter;
  #count = 0;
  readonly #shared = new Map<Value, Place>();
  #id = NO_ID;
  /** The encoded keys and values of the feature in turn. */
  readonly #tags: Uint8Array = Buffer.allocUnsafe(MOST_TAG_BYTES);
  #tagBytes = 0;

  /** `featureBytes` and `valueBytes` are estimates for all features and values. */
  constructor(name: string, featureBytes?: number, valueBytes?: number) {
    this.#name = name;
    this.#features = new ProtobufWriter(featureBytes);
    this.#values = new ProtobufWriter(valueBytes);
  }

  /** Adds a key, which must be new. */
  key(name: string): Place {
    return this.#keys.push(name) - 1;
  }

  /** The place of a value, which features that have it share. */
  shared(value: Value): Place {
    let place = this.#shared.get(value);
    if (place === undefined) {
      place = this.own(value);
      this.#shared.set(value, place);
    }
    return place;
  }

  /** The new place of a value that hardly any other feature has. */
  own(value: Value): Place {
    if (typeof value === 'string') {
      const bytes = Buffer.from(value);
      return this.ownText(bytes, 0, bytes.length);
    }
    if (typeof value === 'boolean') return this.#putNumber(VALUE.flag, +value);
    return this.ownNumber(value);
  }

  ownNumber(value: number): Place {
    if (value >= 0) return this.#putNumber(VALUE.positive, value);
    // zigzag encoding
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

  /** The new place of a text, UTF-8 in bytes `from` to `to - 1`. */
  ownText(source: Uint8Array, from: number, to: number): Place {
    const values = this.#values;
    const length = to - from;
    values.reserve(length + 2 * MOST_HEADER);
    const { bytes } = values;
    const end = putHeader(bytes, values.end, LAYER.value, 1 + sizeOf(length) + length);
    values.end = copyBytes(source, from, to, bytes, putHeader(bytes, end, VALUE.text, length));
    return this.#count++;
  }

  /** {@link ownText} of a text as JSON has it between its quotes. */
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

  /** Ends a feature with its place, in units from the tile's north-western corner. */
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

  /** Adds the layer to the parts of a tile, which are joined in the end. */
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

/** Adds a layer about the tile itself: one feature in its middle. */
export function writeMeta(tile: Uint8Array[], facts: Readonly<Record<string, number>>): void {
  const layer = new LayerWriter('meta');
  layer.begin();
  for (const [name, value] of Object.entries(facts)) {
    layer.property(layer.key(name), layer.shared(value));
  }
  layer.end(EXTENT / 2, EXTENT / 2);
  layer.finish(tile);
}

/** Writes protocol buffers into memory that grows. */
class ProtobufWriter {
  /** {@link reserve} may put other memory in its place. */
  bytes: Uint8Array;
  end = 0;

  constructor(bytes: number = FIRST_BYTES) {
    // little memory comes from Node's pool: fresh memory takes longer than a small tile
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

/** The first byte of a field, whose number is at most 15. */
function tagOf(field: number, type: number): number {
  return field * 8 + type;
}

/** The bytes of a whole number from 0 to 2^53. */
function sizeOf(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < 0x10000000) return 4;
  return value < 0x800000000 ? 5 : value < 0x40000000000 ? 6 : value < 0x2000000000000 ? 7 : 8;
}

/** Writes a whole number from 0 to 2^53, for which there must be room; returns its end. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  // operators of bits work on 32 bits only
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

/** Writes the header of a field of `length` bytes; returns its end. */
function putHeader(bytes: Uint8Array, at: number, field: number, length: number): number {
  bytes[at] = tagOf(field, LENGTH_DELIMITED);
  return putVarint(bytes, at + 1, length);
}
