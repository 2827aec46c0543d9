import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Random } from '../../../src/cli/generate/random.js';
import { readInThreads } from '../../../src/formats/rows/line-threads.js';
import { readNdjson } from '../../../src/formats/rows/lines.js';
import { type Piece, PieceBuilder } from '../../../src/formats/rows/piece.js';
import { renderPoint } from '../../../src/model/point.js';
import { openTimeZone } from '../../../src/model/time-zone.js';
import { pointOf, scatterNotes } from '../../support/notes.js';

const ZONE = 'Europe/Helsinki';
const zone = await openTimeZone(ZONE);

/** What pieces say together: points with their places, and what was wrong. */
function said(pieces: readonly Piece[]): object {
  const blocks = pieces.flatMap(({ block }) => block ?? []);
  return {
    ids: blocks.flatMap(({ id }) => [...id]),
    records: Buffer.concat(blocks.map(({ records }) => records)).toString(),
    places: pieces.flatMap(({ places }) => [...places]),
    problems: pieces.flatMap(({ problems }) => problems).slice(0, 10),
    invalid: pieces.reduce((sum, { invalid }) => sum + invalid, 0),
    unknown: pieces.reduce((sum, { unknownKeys }) => sum + (unknownKeys['more'] ?? 0), 0),
    localTimes: pieces.reduce((sum, { localTimes }) => sum + localTimes, 0),
  };
}

async function* cut(bytes: Buffer, random: Random): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + random.int(400));
    yield bytes.subarray(at, end);
    at = end;
  }
}

async function bothWays(bytes: Buffer, random: Random): Promise<[object, object]> {
  const builder = new PieceBuilder(zone);
  for await (const rows of readNdjson(cut(bytes, random))) for (const row of rows) builder.add(row);
  const options = { threads: 3, zone: ZONE, stretchBytes: 1 + random.int(3_000) };
  const pieces: Piece[] = [];
  for await (const piece of readInThreads(cut(bytes, random), options)) pieces.push(piece);
  return [said([builder.take()]), said(pieces)];
}

const ODD = [
  ...['', '  ', '\r', '{"id":', '[]', '7', '\ufeff{"id":1}', '{"id":-1,"lat":100}'],
  '{"id":5000,"lat":1,"lon":2,"created_at":"2024-05-01T12:00:00","more":1}',
  '{"id":5001,"lat":"1.5","lon":2,"created_at":"2024-05-01T12:00:00Z","comment":"ä\\u2028"}\r',
];

test('threads read lines as one does, wherever they are cut', async () => {
  const random = new Random(7, 'point');
  for (let round = 0; round < 12; round++) {
    const notes = scatterNotes(round + 1, 60).map((note) => renderPoint(pointOf(note)));
    const lines = notes.flatMap((line) => (random.chance(0.4) ? [random.pick(ODD), line] : line));
    if (round % 3 === 0) lines.unshift('\ufeff');
    const end = round % 2 === 0 ? '\n' : '';
    const [one, several] = await bothWays(Buffer.from(lines.join('\n') + end), random);
    assert.equal(several, one, `round ${round}`);
  }
});

test('texts behind record separators go over several lines', async () => {
  const random = new Random(8, 'point');
  const notes = scatterNotes(3, 80).map((note) => renderPoint(pointOf(note)));
  const texts = notes.map(
    (text) => `\x1e${text.replaceAll(',"', () => random.pick([',"', ',\n"']))}\n`,
  );
  const [one, several] = await bothWays(Buffer.from(texts.join('')), random);
  assert.equal(several, one);
  assert.is((one as { ids: number[] }).ids.length, 80);
});

test('a line that is too long is one problem, and is not kept', async () => {
  const [first, last] = scatterNotes(4, 2).map((note) => renderPoint(pointOf(note)));
  const long = `"${'x'.repeat(3_000_000)}"`;
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from([first, long, last].join('\n'));
    for (let at = 0; at < bytes.length; at += 60_000) yield bytes.subarray(at, at + 60_000);
  };
  const pieces: Piece[] = [];
  const options = { threads: 2, zone: ZONE, stretchBytes: 1_000 };
  for await (const piece of readInThreads(chunks(), options)) pieces.push(piece);
  const builder = new PieceBuilder(zone);
  for await (const rows of readNdjson(chunks())) for (const row of rows) builder.add(row);
  assert.equal(said(pieces), said([builder.take()]));
});

test('threads end when nobody reads on', async () => {
  const lines = Buffer.from(`${renderPoint(pointOf(scatterNotes(5, 1)[0]!))}\n`.repeat(50));
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield lines;
  };
  let pieces = 0;
  for await (const _ of readInThreads(chunks(), { threads: 2, zone: ZONE, stretchBytes: 1 })) {
    pieces++;
    if (pieces === 5) break;
  }
  // the runner refuses a file that leaves a thread behind
  assert.is(pieces, 5);
});

test.run();
