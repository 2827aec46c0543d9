import { Random } from '../../../src/cli/generate/random.js';
import { readLines } from '../../../src/formats/rows/lines.js';
import { type Piece, PieceBuilder } from '../../../src/formats/rows/piece.js';
import { readInThreads } from '../../../src/formats/rows/read-threads.js';
import { renderPoint } from '../../../src/model/point.js';
import { openTimeZone } from '../../../src/model/time-zone.js';
import { pointOf, scatterNotes } from '../../support/notes.js';
import { assert, test } from '../../support/uvu.js';

const ZONE = 'Europe/Helsinki';
const zone = await openTimeZone(ZONE);

/** The points of all pieces with their places, and all problems. */
function said(pieces: readonly Piece[]) {
  const blocks = pieces.flatMap((piece) => piece.blocks);
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

/** Chunks that own their memory, as those of files do, and views of a larger one. */
async function* cut(text: string, random: Random): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + random.int(400));
    const view = bytes.subarray(at, end);
    yield random.int(2) === 0 ? view : Buffer.from(new Uint8Array(view).buffer);
    at = end;
  }
}

/** Reads a file by one thread and by two. */
async function bothWays(text: string, random: Random) {
  const builder = new PieceBuilder(zone);
  for await (const rows of readLines(cut(text, random))) {
    for (const row of rows) builder.add(row);
  }
  const batchBytes = 1 + random.int(3_000);
  const pieces: Piece[] = [];
  for await (const piece of readInThreads(cut(text, random), ZONE, 2, batchBytes)) {
    pieces.push(piece);
  }
  return [said([builder.take()]), said(pieces)] as const;
}

const ODD_RECORDS = [
  ...['[]', '7', '{"id":1}', '{"id":-1,"lat":100}', '{}'],
  '{"id":5000,"lat":1,"lon":2,"created_at":"2024-05-01T12:00:00","more":1}',
  '{"id":5001,"lat":"1.5","lon":2,"created_at":"2024-05-01T12:00:00Z","comment":"ä\\u2028"}',
];
const ODD_LINES = [...ODD_RECORDS, '', '  ', '\r', '{"id":', '\ufeff{"id":1}', '"', '\x1e{}'];

/** Notes with something odd between them. */
function linesOf(random: Random, seed: number): string {
  const lines = scatterNotes(seed, 50).flatMap((note) => {
    const line = renderPoint(pointOf(note));
    return random.chance(0.3) ? [random.pick(ODD_LINES), line] : [line];
  });
  if (seed % 3 === 0) lines.unshift('\ufeff');
  return lines.join('\n') + (seed % 2 === 0 ? '\n' : '');
}

test('threads read lines as one does, wherever they are cut', async () => {
  const random = new Random(7, 'point');
  // with a line end behind the last, and with a byte order mark before the first
  for (const seed of [2, 3]) {
    const [one, several] = await bothWays(linesOf(random, seed), random);
    assert.equal(several, one, `seed ${seed}`);
    assert.ok(one.ids.length >= 50);
  }
});

test('texts behind record separators go over several lines', async () => {
  const random = new Random(8, 'point');
  const notes = scatterNotes(3, 80).map((note) => renderPoint(pointOf(note)));
  const cutUp = (text: string): string => text.replaceAll(',"', () => random.pick([',"', ',\n"']));
  const texts = notes.map((text) => `\x1e${cutUp(text)}\n`);
  for (const before of ['', '\ufeff', '\n ']) {
    const [one, several] = await bothWays(before + texts.join(''), random);
    assert.equal(several, one);
    assert.is(one.ids.length, 80);
  }
});

test('a record that is too long is one problem', async () => {
  const random = new Random(9, 'point');
  const [first, last] = scatterNotes(4, 2).map((note) => renderPoint(pointOf(note)));
  const lines = [first, `"${'x'.repeat(2_200_000)}"`, last];
  const [one, several] = await bothWays(lines.join('\n'), random);
  assert.equal(several, one);
  assert.is(one.invalid, 1);
});

test('threads end when nobody reads on', async () => {
  const lines = Buffer.from(`${renderPoint(pointOf(scatterNotes(5, 1)[0]!))}\n`.repeat(50));
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield new Uint8Array(lines);
  };
  let pieces = 0;
  for await (const _ of readInThreads(chunks(), ZONE, 2, 1)) {
    pieces++;
    if (pieces === 5) break;
  }
  // the runner refuses a file that leaves a thread behind
  assert.is(pieces, 5);
});

test.run();
