import { statSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { BlockBuilder, columnsOf } from '../formats/block.js';
import type { Output } from '../formats/native/write-blocks.js';
import { type Point, renderPoint } from '../model/point.js';
import { InputError } from '../model/quote.js';
import { counted, countPoints, megabytes, startProgress } from '../serving/progress.js';
import { type RunOptions, tell, writeOutput } from './arguments.js';
import { inventPoints } from './generate/notes.js';
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
    throw new InputError(`${out}: the name must end with .waypost (native) or .ndjson (NDJSON)`);
  }
  const started = performance.now();
  await writeOutput(out, options, (output) => write(output, options));
  const seconds = (performance.now() - started) / 1000;
  const size = megabytes(statSync(out).size);
  tell([`${out}: ${counted(points, 'point')}, ${size}, in ${seconds.toFixed(1)} s`], out, options);
}

/**
 * All points, in order. Making and writing them is synchronous: signals need a turn of the event
 * loop before each batch. Throws the reason of the signal.
 */
async function* batches(options: GenerateOptions): AsyncGenerator<Point[], void, undefined> {
  const { points, seed } = options;
  const point = inventPoints(seed, points);
  const bar = startProgress('Generating', options, countPoints);
  try {
    for (let from = 0; from < points; from += BATCH_POINTS) {
      await turn();
      const length = Math.min(BATCH_POINTS, points - from);
      bar.update(from + length, points);
      yield Array.from({ length }, (_, i) => point(from + i));
    }
  } finally {
    bar.stop();
  }
}

async function writeNative(output: Output, options: GenerateOptions): Promise<void> {
  const builder = new BlockBuilder();
  for await (const batch of batches(options)) {
    for (const point of batch) builder.add(columnsOf(point));
  }
  const { points, seed } = options;
  const origin =
    `waypost generate --points ${points} --seed ${seed}: invented notes ` +
    'around real cities, whose coordinates are from GeoNames (CC BY 4.0)';
  // no clock, as the same seed must give the same bytes, but later than all points
  const labels = { origin, createdAt: Date.UTC(2024, 3, 1) };
  await writeSorted(output, labels, builder.take(), [], options);
}

async function writeLines({ put }: Output, options: GenerateOptions): Promise<void> {
  for await (const batch of batches(options)) {
    await put(Buffer.from(batch.map((point) => `${renderPoint(point)}\n`).join('')));
  }
}
