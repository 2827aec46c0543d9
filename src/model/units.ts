export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: no list and no null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a safe integer within `least` and `most`. */
export function isWhole(
  value: unknown,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** As a bigint above 32 bits: a packer of MessagePack would write a float. */
export function integer(value: number): number | bigint {
  return value > 0xffff_ffff ? BigInt(value) : value;
}

export function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = lists.get(key);
  if (values === undefined) lists.set(key, [value]);
  else values.push(value);
}

/** Decimal degrees on WGS84: latitude within ±90, longitude within ±180. */
export type Degrees = number;

export type Metres = number;

/** Whole microseconds since 1970-01-01T00:00:00Z; exact as a double from 1684 to 2255. */
export type Microseconds = number;

/** Coordinates have at most 8 decimals: they are whole numbers of these units. */
export const UNITS_PER_DEGREE = 1e8;

/** Bits of the column `flags`: the point is processed, it has an image. */
export const PROCESSED = 1;
export const IMAGE = 2;
