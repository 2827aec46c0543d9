import type { RecordKey } from '../../model/point.js';
import type { Filters } from '../../model/query.js';
import { readAsset } from '../../model/quote.js';
import type { TimeZone } from '../../model/time-zone.js';
import { filtersWithin, MAX_ZOOM, type TileQuery } from '../../tiles/grid.js';
import { ALWAYS } from '../../tiles/points.js';
import { makeTile } from '../../tiles/tile.js';
import type { ViewContext } from '../answer/context.js';
import { matchBeside, type ReadAddress } from '../answer/question.js';
import { JSON_FORMAT } from '../formats/json-format.js';
import { type Format, selfLink } from '../formats/representation.js';
import { ALLOW_READ, TILE_PATH, TILE_SET_PATH, templateOf } from '../request/addresses.js';
import { FILTER_PARAMETERS, parseFilters } from '../request/filters.js';
import { NotFound } from '../request/http-error.js';
import {
  countOf,
  PARAMETERS,
  type Parameter,
  parameters,
  parseFlag,
  parseWhole,
  readKeys,
  readParameters,
} from '../request/parameter.js';
import { last, type Pair } from '../request/query-string.js';

const STATE = 'v';

interface WantedTile extends TileQuery {
  readonly state: string | undefined;
}

/** `GET /tiles/{z}/{x}/{y}.mvt`: the clusters and points of a tile. */
export function tileView({ zone }: ViewContext): ReadAddress<WantedTile> {
  return {
    ...{ name: 'tile', path: TILE_PATH, allow: ALLOW_READ },
    title: 'Vector Tile',
    description: 'A Mapbox Vector Tile 2.1: clusters, and the points that are alone in their cell.',
    ...{ parameters: TILE_PARAMETERS, pathParameters: TILE_PATH_PARAMETERS },
    formats: TILE_FORMATS,
    read: ({ pairs, path }) => ({
      ...parseTile(path, parseTileLook(pairs, zone)),
      state: last(pairs, STATE),
    }),
    lasts: ({ state }, name) => state === name,
    find(wanted, _asked, served, budget) {
      const { filters } = wanted;
      const accepted = filters && matchBeside(served, filters, budget);
      return makeTile(served.generation.engine, wanted, accepted, undefined, budget);
    },
  };
}

/** `GET /tiles/points.json`: TileJSON 3.0.0, which tells maps where the tiles are. */
export function tileSetView({ zone }: ViewContext): ReadAddress<TileLook> {
  return {
    ...{ name: 'tiles', path: TILE_SET_PATH, allow: ALLOW_READ },
    title: 'Tile Set',
    description: 'TileJSON 3.0.0: where the tiles are, and what is in them.',
    parameters: TILE_PARAMETERS,
    formats: [JSON_FORMAT],
    // parameters of tiles that are wrong are told here already
    read: ({ pairs }) => parseTileLook(pairs, zone),
    find(look, { origin, pairs }, served) {
      const state = { name: STATE, value: served.state.name };
      const query = [...pairs.filter(({ name }) => name !== STATE && name !== 'format'), state];
      const address = selfLink(origin + templateOf(TILE_PATH), query);
      return Buffer.from(JSON.stringify(tileSet(address, look)));
    },
  };
}

/** The document without addresses, with all that `fields` may ask for. */
const TILE_SET = JSON.parse(readAsset('tile-set.json')) as {
  readonly vector_layers: readonly { id: string; fields: Record<string, string> }[];
};

function tileSet(address: string, { fields = [] }: TileLook): object {
  const keys: readonly string[] = [...new Set<RecordKey>([...ALWAYS, ...fields])];
  const layers = TILE_SET.vector_layers.map((layer) => {
    if (layer.id !== 'points') return layer;
    return { ...layer, fields: Object.fromEntries(keys.map((key) => [key, layer.fields[key]])) };
  });
  return { ...TILE_SET, tiles: [address], vector_layers: layers };
}

export const MVT: Format = {
  name: 'mvt',
  parameter: 'mvt',
  mediaType: 'application/vnd.mapbox-vector-tile',
};

/** Tiles by the two types that clients ask for. */
const TILE_FORMATS: readonly Format[] = [MVT, { ...MVT, mediaType: 'application/x-protobuf' }];

const TILE_PATH_PARAMETERS = parameters('z', 'x', 'y');

export const TILE_PARAMETERS: readonly Parameter[] = [
  ...FILTER_PARAMETERS,
  ...parameters('grid', 'cluster', 'limit@tile', 'fields'),
];

const { enum: GRIDS, default: DEFAULT_GRID } = PARAMETERS.get('grid')!.schema as {
  readonly enum: readonly number[];
  readonly default: number;
};
const readLimit = countOf('limit@tile');

/** What a request for tiles asks for, whichever tile it is. */
interface TileLook extends Omit<TileQuery, 'address' | 'filters'> {
  readonly filters: Filters;
}

/** Throws a 400 HttpError with all that is wrong. */
export function parseTileLook(pairs: readonly Pair[], zone: TimeZone): TileLook {
  return readParameters(pairs, TILE_PARAMETERS, (reader) => {
    const filters = parseFilters(reader, zone);
    const grid = reader.read('grid', parseGrid) ?? DEFAULT_GRID;
    const isClustered = reader.read('cluster', parseFlag) ?? true;
    const limit = readLimit(reader);
    return { filters, grid, limit: isClustered ? undefined : limit, fields: readKeys(reader) };
  });
}

/** Reads the address of a tile. Throws NotFound for one outside of the pyramid. */
function parseTile(path: Readonly<Record<string, string>>, look: TileLook): TileQuery {
  const [z, x, y] = TILE_PATH_PARAMETERS.map(({ name }) => parsePlace(path[name]!));
  if (z! > MAX_ZOOM || x! >= 2 ** z! || y! >= 2 ** z!) throw new NotFound();
  const address = { z: z!, x: x!, y: y! };
  return { ...look, address, filters: filtersWithin(address, look.filters) };
}

/** One address a tile: no sign, blanks or leading zeros. */
function parsePlace(text: string): number {
  if (!/^(?:0|[1-9]\d{0,6})$/.test(text)) throw new NotFound();
  return Number(text);
}

function parseGrid(text: string): number | string {
  const grid = parseWhole(text);
  return grid !== undefined && GRIDS.includes(grid) ? grid : 'not a power of two from 4 to 128';
}
