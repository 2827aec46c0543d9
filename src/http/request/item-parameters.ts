import type { RecordKey } from '../../model/point.js';
import type { Filters, TimeWindow } from '../../model/query.js';
import { cut, quote } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { parseQueryTime } from '../../model/timestamp.js';
import type { Microseconds } from '../../model/units.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import {
  countOf,
  type Parameter,
  type ParameterReader,
  parameters,
  parseDecimals,
  readKeys,
  readParameters,
  wholeFrom,
} from './parameter.js';
import type { Pair } from './query-string.js';

export interface ItemsQuery {
  readonly filters: Filters;
  readonly after: number;
  readonly limit: number;
  readonly keys: readonly RecordKey[] | undefined;
}

/** Parameters without use that an answer tells: an address has room for thousands of them. */
const MOST_TOLD = 10;
/** The parameter of the links from page to page. */
export const AFTER = 'after';

export const OGC_PARAMETERS: readonly Parameter[] = parameters('f@ogc', 'format@ogc');

/** The filters that the links to the items keep, but for the box: clients give one of their own. */
const KEPT_PARAMETERS = FILTER_PARAMETERS.filter(({ name }) => name !== 'bbox');

export const LEADING_PARAMETERS: readonly Parameter[] = [...KEPT_PARAMETERS, ...OGC_PARAMETERS];

export const ITEM_PARAMETERS: readonly Parameter[] = parameters(
  'fields',
  'f@items',
  'format@items',
);

/** The box is the standard's, which may have heights. */
export const ITEMS_PARAMETERS: readonly Parameter[] = [
  ...KEPT_PARAMETERS,
  ...parameters('bbox@items', 'datetime', 'limit@items', 'after@items'),
  ...ITEM_PARAMETERS,
];

const readLimit = countOf('limit@items');

/** Throws ParameterErrors with all that is wrong, such as a parameter that there is not. */
export function parseItemsQuery(pairs: readonly Pair[], zone: TimeZone): ItemsQuery {
  return readKnown(pairs.map(withoutHeights), ITEMS_PARAMETERS, (reader) => {
    const filters = parseFilters(reader, zone);
    const times = reader.read('datetime', (text) => parseTimes(text, zone));
    const createdAt = both(filters.createdAt, times);
    return {
      filters: createdAt === undefined ? filters : { ...filters, createdAt },
      after: reader.read(AFTER, wholeFrom(0)) ?? 0,
      limit: readLimit(reader),
      keys: readKeys(reader),
    };
  });
}

/** Reads the parameters of an item: which keys it shall have. Throws as those of the items do. */
export function parseItemQuery(pairs: readonly Pair[]): readonly RecordKey[] | undefined {
  return readKnown(pairs, ITEM_PARAMETERS, readKeys);
}

/** Throws ParameterErrors where the request for a document has a parameter that there is not. */
export function refuseOthers(pairs: readonly Pair[]): void {
  readKnown(pairs, OGC_PARAMETERS, () => undefined);
}

/** Reads the filters of a document that leads to the items, in the order of links. Throws likewise. */
export function parseKept(pairs: readonly Pair[], zone: TimeZone): readonly Pair[] {
  readKnown(pairs, LEADING_PARAMETERS, (reader) => parseFilters(reader, zone));
  return pairs.filter(({ name }) => KEPT_PARAMETERS.some((one) => one.name === name));
}

/** Reads parameters where no others are allowed. */
function readKnown<Wanted>(
  pairs: readonly Pair[],
  parameters: readonly Parameter[],
  read: (reader: ParameterReader) => Wanted,
): Wanted {
  return readParameters(pairs, parameters, (reader) => {
    refuseUnknown(reader, parameters);
    return read(reader);
  });
}

function refuseUnknown(reader: ParameterReader, parameters: readonly Parameter[]): void {
  const { pairs, problems } = reader;
  for (const { name, value } of pairs) {
    if (problems.length === MOST_TOLD) break;
    const parameter = parameters.find((one) => one.name === name);
    if (parameter === undefined) {
      const names = parameters.map((one) => one.name).join(', ');
      const text = `There is no parameter ${quote(name)} here; the parameters are ${names}.`;
      problems.push({ parameter: cut(name), text });
      continue;
    }
    // the pipeline reads `format` itself
    const choices = (parameter.schema['enum'] ?? []) as readonly string[];
    if (name === 'f' && value !== '' && !choices.includes(value)) {
      reader.refuse(name, value, 'no format that there is');
    }
  }
}

/** A box of six numbers has heights, which points have not; where these are no numbers it stays. */
function withoutHeights(pair: Pair): Pair {
  if (pair.name !== 'bbox') return pair;
  const parts = pair.value.split(',', 7);
  if (parts.length !== 6) return pair;
  const [west, south, lowest, east, north, highest] = parts;
  const heights = parseDecimals(`${lowest},${highest}`, 2);
  if (typeof heights === 'string' || heights.includes(undefined)) return pair;
  return { name: 'bbox', value: [west, south, east, north].join() };
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/** Reads a moment, a day or a span of them; returns the reason as text when it is none. */
function parseTimes(text: string, zone: TimeZone): TimeWindow | string {
  const ends = text.split('/', 3);
  if (ends.length > 2) return 'has more than two ends';
  const [from, to = from] = ends.map((end) => end.trim());
  const isOpen = (end: string): boolean => ends.length === 2 && (end === '' || end === '..');
  const read = (end: string, open: number, time: string): Microseconds | string =>
    isOpen(end) ? open : parseQueryTime(DATE.test(end) ? `${end}T${time}` : end, zone);
  const after = read(from!, Number.NEGATIVE_INFINITY, '00:00:00');
  if (typeof after === 'string') return after;
  const before = read(to!, Number.POSITIVE_INFINITY, '23:59:59.999999');
  if (typeof before === 'string') return before;
  return after > before ? 'ends before it begins' : { after, before };
}

/** What lies in both of two spans. */
function both(one: TimeWindow | undefined, other: TimeWindow | undefined): TimeWindow | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    after: Math.max(one.after, other.after),
    before: Math.min(one.before, other.before),
  };
}
