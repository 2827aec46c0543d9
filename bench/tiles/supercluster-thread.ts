import { parentPort, workerData } from 'node:worker_threads';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import Supercluster from 'supercluster';
import { EXTENT } from '../../src/tiles/mercator.js';
import { rowBatches } from '../peers/backend.js';
import { type Address, CELL, FILTER_SETS, type TileRecord } from './cases.js';
import { makeAll } from './measure.js';
import type { Question, ThreadData } from './supercluster.js';

const BATCH = 5000;
const MAX_ZOOM = 16;

interface Properties {
  readonly id: number;
  readonly status: string;
  readonly is_processed: boolean;
  readonly created_at: number;
}

/** What the encoder takes as a layer. */
type Layer = Parameters<typeof fromGeojsonVt>[0][string];

/** What tiles need of all points: ten million records of their own would take 4 GB. */
interface Columns {
  readonly lon: Float64Array;
  readonly lat: Float64Array;
  readonly id: Float64Array;
  /** Seconds. */
  readonly created: Float64Array;
  readonly isProcessed: Uint8Array;
  readonly status: string[];
  /** A bit for each filter set that accepts the point. */
  readonly accepted: Uint8Array;
}

/** A point as supercluster takes it; its parts are made when they are asked for. */
class Point implements Supercluster.PointFeature<Properties> {
  readonly type = 'Feature';
  readonly #columns: Columns;
  readonly #row: number;

  constructor(columns: Columns, row: number) {
    this.#columns = columns;
    this.#row = row;
  }

  get geometry(): Supercluster.PointFeature<Properties>['geometry'] {
    const { lon, lat } = this.#columns;
    return { type: 'Point', coordinates: [lon[this.#row]!, lat[this.#row]!] };
  }

  get properties(): Properties {
    const { id, status, isProcessed, created } = this.#columns;
    const row = this.#row;
    return {
      id: id[row]!,
      status: status[row]!,
      is_processed: isProcessed[row] === 1,
      created_at: created[row]!,
    };
  }
}

/** Entry of the thread: reads the points, then answers. */
async function main({ ndjson, points }: ThreadData): Promise<void> {
  const columns = await readColumns(ndjson, points);
  let index: Supercluster<Properties> | undefined;
  const tile = (address: Address): Uint8Array => tileOf(index!, address);
  const answers = {
    prepare({ filters }: Question & { ask: 'prepare' }): number {
      // before the next one is made: two indexes do not fit
      index = undefined;
      const began = performance.now();
      index = indexOf(columns, filters);
      return (performance.now() - began) / 1000;
    },
    tile: ({ address }: Question & { ask: 'tile' }) => tile(address),
    turn: ({ tiles, leastMs }: Question & { ask: 'turn' }) => makeAll({ tile }, tiles, leastMs),
  };
  parentPort!.on('message', (question: Question) => {
    const answer = answers[question.ask] as (of: Question) => unknown;
    void Promise.resolve(answer(question)).then((result) => parentPort!.postMessage(result));
  });
  parentPort!.postMessage('ready');
}

async function readColumns(ndjson: string, points: number): Promise<Columns> {
  const column = (): Float64Array => new Float64Array(points);
  const bytes = (): Uint8Array => new Uint8Array(points);
  const columns: Columns = {
    ...{ lon: column(), lat: column(), id: column(), created: column() },
    ...{ isProcessed: bytes(), status: [], accepted: bytes() },
  };
  const statuses = new Map<string, string>();
  let row = 0;
  for await (const rows of rowBatches(ndjson, BATCH)) {
    for (const { body } of rows) {
      const record = JSON.parse(body) as TileRecord;
      columns.lon[row] = Number(record.lon);
      columns.lat[row] = Number(record.lat);
      columns.id[row] = record.id;
      columns.created[row] = Math.floor(Date.parse(record.created_at) / 1000);
      columns.isProcessed[row] = record.is_processed ? 1 : 0;
      // one text for all points that have it
      if (!statuses.has(record.status)) statuses.set(record.status, record.status);
      columns.status.push(statuses.get(record.status)!);
      for (const [set, { accepts }] of FILTER_SETS.entries()) {
        if (accepts(record)) columns.accepted[row]! |= 1 << set;
      }
      row++;
    }
  }
  return columns;
}

/**
 * An index whose clusters reach as far as ours do: it merges what is nearer than a cell's width,
 * instead of what shares a cell. It is of one set of points, so that each filter set needs another.
 */
function indexOf(columns: Columns, filters: number): Supercluster<Properties> {
  const set = FILTER_SETS.findIndex(({ count }) => count === filters);
  const features: Point[] = [];
  for (let row = 0; row < columns.accepted.length; row++) {
    if ((columns.accepted[row]! >> set) & 1) features.push(new Point(columns, row));
  }
  const options = { radius: CELL, extent: EXTENT, maxZoom: MAX_ZOOM };
  return new Supercluster<Properties>(options).load(features);
}

function tileOf(index: Supercluster<Properties>, { z, x, y }: Address): Uint8Array {
  const tile = index.getTile(z, x, y);
  return tile === null ? new Uint8Array(0) : encode(tile, y === 2 ** z - 1);
}

/**
 * Clusters and single points in a layer each, without those of the margin that tiles share. What is
 * beyond Web Mercator stands at its southern edge, below which there is no tile.
 */
function encode(
  { features }: Supercluster.Tile<Supercluster.AnyProps, Properties>,
  isSouthernmost: boolean,
): Uint8Array {
  const below = isSouthernmost ? EXTENT + 1 : EXTENT;
  const clusters: typeof features = [];
  const points: typeof features = [];
  for (const feature of features) {
    const [[x, y]] = feature.geometry as [[number, number]];
    if (x < 0 || x >= EXTENT || y < 0 || y >= below) continue;
    ('cluster' in feature.tags ? clusters : points).push(feature);
  }
  const layers = { clusters: { features: clusters }, points: { features: points } };
  return fromGeojsonVt(layers as unknown as Record<string, Layer>, { version: 2 });
}

await main(workerData as ThreadData);
