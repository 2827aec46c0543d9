import { setImmediate as turn } from 'node:timers/promises';
import { BlockBuilder, columnsOf } from '../formats/block.js';
import type { Output } from '../formats/native/write-blocks.js';
import { type Point, renderPoint } from '../model/point.js';
import { InputError } from '../model/quote.js';
import { counted, countPoints, megabytes, startProgress } from '../serving/progress.js';
import { type RunOptions, tell, writeOutput } from './arguments.js';
import { inventPoints } from './generate/notes.js';
import { EXPORTED_AT } from './generate/places.js';
import { writeSorted } from './pack.js';

interface GenerateOptions extends Pick<RunOptions, 'print' | 'progressTo' | 'signal'> {
  readonly points: number;
  /** 0 to MAX_SEED: the same seed gives the same file. */
  readonly seed: number;
  readonly out: string;
}

/** Points between turns of signals and the bar; batches of this size die young as garbage. */
const BATCH_POINTS = 256;

/**
 * Writes invented points. Those of a native file are held in memory to sort them. The file appears
 * under its name once it is complete. Throws an InputError when the name has no known ending or the
 * file cannot be written.
 */
export async function generateSnapshot(options: GenerateOptions): Promise<void> {
  const { points, out } = options;
  const write = /\.waypost$/i.test(out) ? writeNative : writeLines;
  if (!/\.(waypost|ndjson)$/i.test(out)) {
    throw new InputError(
      `${out}: the name must end with .waypost for a native snapshot, or with .ndjson for one ` +
        'record a line',
    );
  }
  const bar = startProgress('Generating', options, countPoints);
  const started = performance.now();
  try {
    const made = batches(options, (done) => bar.update(done, points));
    const bytes = await writeOutput(out, options, (output) => write(output, made, options));
    bar.stop();
    const seconds = (performance.now() - started) / 1000;
    const written = `${counted(points, 'point')}, ${megabytes(bytes)}, in ${seconds.toFixed(1)} s`;
    tell([`${out}: ${written}`], out, options);
  } finally {
    bar.stop();
  }
}

/**
 * All points, in order; `onProgress` hears how many come, and may throw. Making and writing them is
 * synchronous: signals need a turn of the event loop before each batch.
 */
async function* batches(
  { points, seed }: GenerateOptions,
  onProgress: (points: number) => void,
): AsyncGenerator<Point[], void, undefined> {
  const point = inventPoints(seed, points);
  for (let done = 0; done < points; ) {
    await turn();
    const from = done;
    done = Math.min(done + BATCH_POINTS, points);
    onProgress(done);
    yield Array.from({ length: done - from }, (_, i) => point(from + i));
  }
}

type Batches = AsyncIterable<readonly Point[]>;

/** Returns how many bytes were written. */
async function writeNative(
  output: Output,
  batches: Batches,
  options: GenerateOptions,
): Promise<number> {
  const builder = new BlockBuilder();
  for await (const batch of batches) {
    for (const point of batch) builder.add(columnsOf(point));
  }
  const { points, seed } = options;
  const origin =
    `waypost generate --points ${points} --seed ${seed}: invented notes ` +
    'around real cities, whose coordinates are from GeoNames (CC BY 4.0)';
  // no clock: the same seed must give the same bytes
  const labels = { origin, createdAt: EXPORTED_AT };
  return (await writeSorted(output, labels, builder.take(), [], options)).bytes;
}

async function writeLines({ put }: Output, batches: Batches): Promise<number> {
  let bytes = 0;
  for await (const batch of batches) {
    const lines = Buffer.from(batch.map((point) => `${renderPoint(point)}\n`).join(''));
    await put(lines);
    bytes += lines.length;
  }
  return bytes;
}
