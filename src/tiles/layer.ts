import { EXTENT } from './mercator.js';
import type { ProtobufWriter } from './protobuf.js';

/** What a property of a feature may be; numbers are whole. */
export type Value = string | number | boolean;

// numbers of the fields of Mapbox Vector Tiles 2.1
const TILE_LAYER = 3;
const LAYER = { name: 1, feature: 2, key: 3, value: 4, extent: 5, version: 15 } as const;
const FEATURE = { id: 1, tags: 2, type: 3, geometry: 4 } as const;
const VALUE = { text: 1, positive: 5, negative: 6, flag: 7 } as const;
const POINT = 1;
/** One place to move to. */
const MOVE_TO = (1 << 3) | 1;

/** Writes one layer of points. Keys and values stand in it once, however many features have them. */
export class LayerWriter {
  readonly #writer: ProtobufWriter;
  readonly #keys = new Map<string, number>();
  readonly #values = new Map<Value, number>();
  readonly #start: number;
  #feature = 0;
  #tags = 0;

  constructor(writer: ProtobufWriter, name: string) {
    this.#writer = writer;
    this.#start = writer.open(TILE_LAYER);
    writer.number(LAYER.version, 2);
    writer.text(LAYER.name, name);
  }

  /** Begins a feature; its properties come next. */
  begin(id?: number): void {
    const writer = this.#writer;
    this.#feature = writer.open(LAYER.feature);
    if (id !== undefined) writer.number(FEATURE.id, id);
    this.#tags = writer.open(FEATURE.tags);
  }

  property(key: string, value: Value): void {
    this.#writer.varint(placeOf(key, this.#keys));
    this.#writer.varint(placeOf(value, this.#values));
  }

  /** Ends a feature with its place, in units of the tile from its north-western corner. */
  end(east: number, south: number): void {
    const writer = this.#writer;
    writer.close(this.#tags);
    writer.number(FEATURE.type, POINT);
    const geometry = writer.open(FEATURE.geometry);
    writer.varint(MOVE_TO);
    // zigzag: the sign comes last
    writer.varint(2 * east);
    writer.varint(2 * south);
    writer.close(geometry);
    writer.close(this.#feature);
  }

  finish(): void {
    const writer = this.#writer;
    for (const key of this.#keys.keys()) writer.text(LAYER.key, key);
    for (const value of this.#values.keys()) {
      const start = writer.open(LAYER.value);
      if (typeof value === 'string') writer.text(VALUE.text, value);
      else if (typeof value === 'boolean') writer.number(VALUE.flag, value ? 1 : 0);
      else if (value >= 0) writer.number(VALUE.positive, value);
      else writer.number(VALUE.negative, -2 * value - 1);
      writer.close(start);
    }
    writer.number(LAYER.extent, EXTENT);
    writer.close(this.#start);
  }
}

function placeOf<T>(wanted: T, places: Map<T, number>): number {
  let place = places.get(wanted);
  if (place === undefined) {
    place = places.size;
    places.set(wanted, place);
  }
  return place;
}
