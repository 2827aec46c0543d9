import type { Filters } from '../../model/query.js';
import type { TimeZone } from '../../model/time-zone.js';
import { filtersWithin, MAX_ZOOM, type TileQuery } from '../../tiles/grid.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { NotFound } from './http-error.js';
import {
  FIELDS_PARAMETER,
  type Parameter,
  parseFlag,
  parseWhole,
  readKeys,
  readParameters,
  wholeFrom,
} from './parameter.js';
import type { Pair } from './query-string.js';

const GRIDS = [4, 8, 16, 32, 64, 128];
const DEFAULT_GRID = 16;
const MAX_POINTS = 10_000;

export const TILE_PATH_PARAMETERS: readonly Parameter[] = [
  {
    name: 'z',
    accepts: `the zoom, 0 to ${MAX_ZOOM}`,
    example: '0',
    schema: { type: 'integer', minimum: 0, maximum: MAX_ZOOM },
  },
  {
    name: 'x',
    accepts: 'the column from the west, below 2^z',
    example: '0',
    schema: { type: 'integer', minimum: 0 },
  },
  {
    name: 'y',
    accepts: 'the row from the north, below 2^z',
    example: '0',
    schema: { type: 'integer', minimum: 0 },
  },
];

export const TILE_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  {
    name: 'grid',
    accepts: `the number of cells along the edge of a tile: ${GRIDS.join(', ')}; ${DEFAULT_GRID} is the default`,
    example: '32',
    schema: { enum: GRIDS, default: DEFAULT_GRID },
  },
  {
    name: 'cluster',
    accepts: 'true (the default), or false for points without clusters',
    example: 'false',
    schema: { type: 'boolean', default: true },
  },
  {
    name: 'limit',
    accepts: `the most points of a tile without clusters, a whole number from 1; above ${MAX_POINTS} it counts as ${MAX_POINTS}, which is the default`,
    example: '2000',
    schema: { type: 'integer', minimum: 1, maximum: MAX_POINTS, default: MAX_POINTS },
  },
  FIELDS_PARAMETER,
];

/** What a request for tiles asks for, whichever tile it is. */
export interface TileLook extends Omit<TileQuery, 'address' | 'filters'> {
  readonly filters: Filters;
}

/** Throws ParameterErrors with all that is wrong. */
export function parseTileLook(pairs: readonly Pair[], zone: TimeZone): TileLook {
  return readParameters(pairs, TILE_PARAMETERS, (reader) => {
    const filters = parseFilters(reader, zone);
    const grid = reader.read('grid', parseGrid) ?? DEFAULT_GRID;
    const isClustered = reader.read('cluster', parseFlag) ?? true;
    const limit = Math.min(reader.read('limit', wholeFrom(1)) ?? MAX_POINTS, MAX_POINTS);
    return { filters, grid, limit: isClustered ? undefined : limit, fields: readKeys(reader) };
  });
}

/** Reads the address of a tile. Throws NotFound for one outside of the pyramid. */
export function parseTile(path: Readonly<Record<string, string>>, look: TileLook): TileQuery {
  const [z, x, y] = TILE_PATH_PARAMETERS.map(({ name }) => parsePlace(path[name]!));
  if (z! > MAX_ZOOM || x! >= 2 ** z! || y! >= 2 ** z!) throw new NotFound();
  const address = { z: z!, x: x!, y: y! };
  return { ...look, address, filters: filtersWithin(address, look.filters) };
}

/** One address for each tile: no sign, no blanks, no noughts in front. */
function parsePlace(text: string): number {
  if (!/^(?:0|[1-9]\d{0,6})$/.test(text)) throw new NotFound();
  return Number(text);
}

function parseGrid(text: string): number | string {
  const grid = parseWhole(text);
  return grid !== undefined && GRIDS.includes(grid) ? grid : 'not a power of two from 4 to 128';
}
