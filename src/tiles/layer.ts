import { EXTENT } from './mercator.js';
import { ProtobufWriter } from './protobuf.js';

/** What a property of a feature may be; numbers are whole. */
export type Value = string | number | boolean;

/** The number under which a layer has a key or a value. */
export type Place = number & { readonly brand?: 'place in a layer' };

// numbers of the fields of Mapbox Vector Tiles 2.1
const TILE_LAYER = 3;
const LAYER = { name: 1, feature: 2, key: 3, value: 4, extent: 5, version: 15 } as const;
const FEATURE = { id: 1, tags: 2, type: 3, geometry: 4 } as const;
const VALUE = { text: 1, positive: 5, negative: 6, flag: 7 } as const;
const POINT = 1;
/** One place to move to. */
const MOVE_TO = (1 << 3) | 1;

/** Writes one layer of points. A key stands in it once, however many features have it. */
export class LayerWriter {
  readonly #writer: ProtobufWriter;
  readonly #start: number;
  readonly #keys: string[] = [];
  /** The fields of all values. */
  readonly #values = new ProtobufWriter();
  #count = 0;
  readonly #shared = new Map<Value, Place>();
  #feature = 0;
  #tags = 0;

  constructor(writer: ProtobufWriter, name: string) {
    this.#writer = writer;
    this.#start = writer.open(TILE_LAYER);
    writer.number(LAYER.version, 2);
    writer.text(LAYER.name, name);
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
    const values = this.#values;
    const start = values.open(LAYER.value);
    if (typeof value === 'string') values.text(VALUE.text, value);
    else if (typeof value === 'boolean') values.number(VALUE.flag, value ? 1 : 0);
    else if (value >= 0) values.number(VALUE.positive, value);
    // zigzag: the sign comes last
    else values.number(VALUE.negative, -2 * value - 1);
    values.close(start);
    return this.#count++;
  }

  /** Begins a feature; its properties come next. */
  begin(id?: number): void {
    const writer = this.#writer;
    this.#feature = writer.open(LAYER.feature);
    if (id !== undefined) writer.number(FEATURE.id, id);
    this.#tags = writer.open(FEATURE.tags);
  }

  property(key: Place, value: Place): void {
    this.#writer.varint(key);
    this.#writer.varint(value);
  }

  /** Ends a feature with where it is, in units of the tile from its north-western corner. */
  end(east: number, south: number): void {
    const writer = this.#writer;
    writer.close(this.#tags);
    writer.number(FEATURE.type, POINT);
    const geometry = writer.open(FEATURE.geometry);
    writer.varint(MOVE_TO);
    writer.varint(2 * east);
    writer.varint(2 * south);
    writer.close(geometry);
    writer.close(this.#feature);
  }

  finish(): void {
    const writer = this.#writer;
    for (const key of this.#keys) writer.text(LAYER.key, key);
    writer.append(this.#values.finish());
    writer.number(LAYER.extent, EXTENT);
    writer.close(this.#start);
  }
}
