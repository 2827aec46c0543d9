import type { Filters } from '../../model/query.js';
import type { TimeZone } from '../../model/time-zone.js';
import { MAX_ZOOM } from '../../tiles/mercator.js';
import { filtersWithin, type TileQuery } from '../../tiles/tile.js';
import { NotFound, ParameterErrors, type ParameterProblem } from './errors.js';
import { FILTER_PARAMETERS, parseFilters } from './filters.js';
import { parseWhole } from './numbers.js';
import { type Parameter, refusal } from './parameter.js';
import { last, type Pair } from './query-string.js';

const GRIDS = [4, 8, 16, 32, 64, 128];
const DEFAULT_GRID = 16;

/** The variable parts of a tile's address. */
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

/** What tiles are made of, besides the filters; all are optional. */
const LOOK: readonly Parameter[] = [
  {
    name: 'grid',
    accepts: `the number of cells along the edge of a tile: ${GRIDS.join(', ')}; ${DEFAULT_GRID} is the default`,
    example: '32',
    schema: { enum: GRIDS, default: DEFAULT_GRID },
  },
];

export const TILE_PARAMETERS: readonly Parameter[] = [...FILTER_PARAMETERS, ...LOOK];

/** What a request for tiles asks for, whichever tile it is. */
export interface TileLook {
  readonly filters: Filters;
  readonly grid: number;
  readonly fields: readonly string[];
}

/**
 * Reads the parameters of tiles; `zone` is where times without an offset stand. Throws
 * ParameterErrors with all that is wrong.
 */
export function parseTileLook(pairs: readonly Pair[], zone: TimeZone): TileLook {
  const problems: ParameterProblem[] = [];
  const filters = parseFilters(pairs, zone, problems);
  const grid = readGrid(pairs, problems);
  if (problems.length > 0) throw new ParameterErrors(problems);
  return { filters, grid, fields: [] };
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

function readGrid(pairs: readonly Pair[], problems: ParameterProblem[]): number {
  const text = last(pairs, 'grid');
  if (!text) return DEFAULT_GRID;
  const grid = parseWhole(text);
  if (grid !== undefined && GRIDS.includes(grid)) return grid;
  problems.push(refusal(LOOK, 'grid', text, 'not a power of two from 4 to 128'));
  return DEFAULT_GRID;
}
