import { LayerWriter } from './layer.js';
import { EXTENT } from './mercator.js';

/** Adds a layer that tells of the tile itself, as one feature in its middle. */
export function writeMeta(tile: Uint8Array[], facts: Readonly<Record<string, number>>): void {
  const layer = new LayerWriter('meta');
  const properties = Object.entries(facts).map(([name, value]) => ({
    key: layer.key(name),
    value: layer.shared(value),
  }));
  layer.begin();
  for (const { key, value } of properties) layer.property(key, value);
  layer.end(EXTENT / 2, EXTENT / 2);
  layer.finish(tile);
}
