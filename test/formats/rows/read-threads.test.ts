import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { CUTTERS, PARSERS } from '../../../src/formats/rows/dialect.js';
import { type Piece, PieceBuilder } from '../../../src/formats/rows/piece.js';
import { readInThreads } from '../../../src/formats/rows/read-threads.js';
import { renderPoint } from '../../../src/model/point.js';
import { openTimeZone } from '../../../src/model/time-zone.js';
import { pointOf, scatterNotes } from '../../support/notes.js';

const ZONE = 'Europe/Helsinki';
const zone = await openTimeZone(ZONE);
type Format = keyof typeof CUTTERS;

/** What pieces say together: points with their places, what was wrong, and why they broke off. */
function said(pieces: readonly Piece[], broken?: string): object {
  const blocks = pieces.flatMap(({ block }) => block ?? []);
  return {
    broken,
    ids: blocks.flatMap(({ id }) => [...id]),
    records: Buffer.concat(blocks.map(({ records }) => records)).toString(),
    places: pieces.flatMap(({ places }) => [...places]),
    problems: pieces.flatMap(({ problems }) => problems).slice(0, 10),
    invalid: pieces.reduce((sum, { invalid }) => sum + invalid, 0),
    unknown: pieces.reduce((sum, { unknownKeys }) => sum + (unknownKeys['more'] ?? 0), 0),
    localTimes: pieces.reduce((sum, { localTimes }) => sum + localTimes, 0),
  };
}

async function* cut(text: string, random: Random): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + random.int(400));
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Reads a file by one thread and by two; of one that breaks off only why is told. */
async function bothWays(format: Format, text: string, random: Random): Promise<[object, object]> {
  const one = async (): Promise<object> => {
    const builder = new PieceBuilder(zone);
    for await (const rows of PARSERS[format](cut(text, random))) {
      for (const row of rows) builder.add(row);
    }
    return said([builder.take()]);
  };
  const several = async (): Promise<object> => {
    const options = { threads: 2, zone: ZONE, batchBytes: 1 + random.int(3_000) };
    const pieces: Piece[] = [];
    for await (const piece of readInThreads(CUTTERS[format](cut(text, random)), options)) {
      pieces.push(piece);
    }
    return said(pieces);
  };
  const why = (error: Error): object => said([], error.message);
  return [await one().catch(why), await several().catch(why)];
}

const ODD_RECORDS = [
  ...['[]', '7', '{"id":1}', '{"id":-1,"lat":100}', '{}'],
  '{"id":5000,"lat":1,"lon":2,"created_at":"2024-05-01T12:00:00","more":1}',
  '{"id":5001,"lat":"1.5","lon":2,"created_at":"2024-05-01T12:00:00Z","comment":"ä\\u2028"}',
];
const ODD_LINES = [...ODD_RECORDS, '', '  ', '\r', '{"id":', '\ufeff{"id":1}', '"'];
const ODD_CELLS = ['1,2,3', '"1"x,2,3,4', '9,1,2,"2024-05-01T12:00:00\n",x', '', '"a\n\n",1,2,3,4'];

/** Notes with something odd between them. */
function mixed(random: Random, seed: number, odd: readonly string[], one: Line): string[] {
  return scatterNotes(seed, 50).flatMap((note) => {
    const line = one(JSON.parse(renderPoint(pointOf(note))));
    return random.chance(0.3) ? [random.pick(odd), line] : [line];
  });
}

type Line = (record: Readonly<Record<string, unknown>>) => string;

const MAKE: Readonly<Record<Format, (random: Random, seed: number) => string>> = {
  ndjson(random, seed) {
    const lines = mixed(random, seed, ODD_LINES, (record) => JSON.stringify(record));
    if (seed % 3 === 0) lines.unshift('\ufeff');
    return lines.join('\n') + (seed % 2 === 0 ? '\n' : '');
  },
  csv(random, seed) {
    const quoted = (text: unknown): string => `"${String(text).replaceAll('"', '""')}"`;
    const lines = mixed(random, seed, ODD_CELLS, ({ id, lat, lon, created_at, comment }) =>
      [id, lat, lon, created_at, quoted(comment)].join(),
    );
    return ['id,lat,lon,created_at,comment', ...lines].join(seed % 2 === 0 ? '\n' : '\r\n');
  },
  json(random, seed) {
    const records = mixed(random, seed, ODD_RECORDS, (record) => JSON.stringify(record));
    // some are broken: in the list, or by what is between its records
    if (seed % 4 === 0) records.splice(20, 0, random.pick(['{"a":}', 'x', '"\ud800', '1 2']));
    if (seed % 5 === 0) records.splice(40, 0, '{"b":}', 'y');
    return `{"count":7,"results":[${records.join(random.pick([',', ' ,\n']))}]}`;
  },
  geojson(random, seed) {
    const features = mixed(random, seed, ODD_RECORDS, ({ lat, lon, ...properties }) => {
      const geometry = { type: 'Point', coordinates: [Number(lon), Number(lat)] };
      return JSON.stringify({ type: 'Feature', properties, geometry });
    });
    return `{"type":"FeatureCollection","features":[${features}]${seed % 4 === 0 ? '' : '}'}`;
  },
};

for (const format of Object.keys(MAKE) as Format[]) {
  test(`threads read ${format} as one does, wherever it is cut`, async () => {
    const random = new Random(7, 'point');
    let broken = 0;
    for (let seed = 1; seed <= 5; seed++) {
      const [one, several] = await bothWays(format, MAKE[format](random, seed), random);
      assert.equal(several, one, `seed ${seed}`);
      if ((one as { broken?: string }).broken !== undefined) broken++;
      else assert.ok((one as { ids: number[] }).ids.length >= 50);
    }
    assert.is(broken > 0, format === 'json' || format === 'geojson');
  });
}

test('texts behind record separators go over several lines', async () => {
  const random = new Random(8, 'point');
  const notes = scatterNotes(3, 80).map((note) => renderPoint(pointOf(note)));
  const texts = notes.map(
    (text) => `\x1e${text.replaceAll(',"', () => random.pick([',"', ',\n"']))}\n`,
  );
  const [one, several] = await bothWays('ndjson', texts.join(''), random);
  assert.equal(several, one);
  assert.is((one as { ids: number[] }).ids.length, 80);
});

test('a record that is too long is one problem', async () => {
  const random = new Random(9, 'point');
  const [first, last] = scatterNotes(4, 2).map((note) => renderPoint(pointOf(note)));
  const lines = [first, `"${'x'.repeat(2_200_000)}"`, last];
  for (const [format, text] of [
    ['ndjson', lines.join('\n')],
    ['json', `[${lines}]`],
  ] as const) {
    const [one, several] = await bothWays(format, text, random);
    assert.equal(several, one, format);
    assert.is((one as { invalid: number }).invalid, 1);
  }
});

test('threads end when nobody reads on', async () => {
  const lines = Buffer.from(`${renderPoint(pointOf(scatterNotes(5, 1)[0]!))}\n`.repeat(50));
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield lines;
  };
  let pieces = 0;
  const options = { threads: 2, zone: ZONE, batchBytes: 1 };
  for await (const _ of readInThreads(CUTTERS.ndjson(chunks()), options)) {
    pieces++;
    if (pieces === 5) break;
  }
  // the runner refuses a file that leaves a thread behind
  assert.is(pieces, 5);
});

test.run();
