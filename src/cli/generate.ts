import { fstatSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { PointBlock } from '../formats/block.js';
import { NativeWriter } from '../formats/native/write.js';
import { BlockBuilder } from '../formats/rows/piece.js';
import { writeAll, writeAtomically } from '../formats/system-files.js';
import { type Point, renderPoint } from '../model/point.js';
import { InputError } from '../model/quote.js';
import { isWhole } from '../model/units.js';
import { counted, countPoints, megabytes, startProgress } from '../serving/progress.js';
import { PointSource } from './generate/notes.js';
import { EXPORTED_AT } from './generate/places.js';
import { MAX_POINTS, MAX_SEED } from './generate/random.js';
import { writeSorted } from './pack.js';
import type { RunOptions } from './standard-streams.js';

interface GenerateOptions extends Pick<RunOptions, 'progressTo' | 'signal'> {
  /** How many, 1 to {@link MAX_POINTS}. */
  readonly points: number;
  /** 0 to {@link MAX_SEED}: the same seed gives the same file. */
  readonly seed: number;
  readonly out: string;
  readonly print: (line: string) => void;
}

/** Points made before signals and the bar have their turn; as garbage they die young at this size. */
const BATCH_POINTS = 256;

type Form = 'native' | 'ndjson' | 'ndjson.gz';

/**
 * Writes invented points, and for a native file notifications too. Its points are held in memory to
 * sort them. The file appears under its name once it is complete. Throws an InputError when an
 * option is out of range, the name has no known ending or the file cannot be written.
 */
export async function generateSnapshot(options: GenerateOptions): Promise<void> {
  const { points, seed, out, print, signal } = options;
  const form = formOf(out);
  requireWhole('points', points, 1, MAX_POINTS);
  requireWhole('seed', seed, 0, MAX_SEED);

  const source = new PointSource(seed, points);
  const bar = startProgress('Generating', options.progressTo, countPoints);
  const started = performance.now();
  try {
    const onProgress = (done: number): void => {
      signal?.throwIfAborted();
      bar.update(done, points);
    };
    const bytes = await writeAtomically(
      out,
      async (fd) => {
        if (form === 'native') {
          const blocks = await pointBlocks(source, onProgress);
          bar.stop();
          await writeNative(fd, source, blocks, options);
        } else {
          await writeLines(fd, lines(source, onProgress), form === 'ndjson.gz');
        }
        return fstatSync(fd).size;
      },
      signal,
    );
    bar.stop();
    const seconds = (performance.now() - started) / 1000;
    print(`${out}: ${counted(points, 'point')}, ${megabytes(bytes)}, in ${seconds.toFixed(1)} s`);
  } finally {
    bar.stop();
  }
}

async function writeNative(
  fd: number,
  source: PointSource,
  blocks: readonly PointBlock[],
  options: GenerateOptions,
): Promise<void> {
  const writer = new NativeWriter(
    fd,
    `waypost generate --points ${source.count} --seed ${options.seed}: invented notes ` +
      'around real cities, whose coordinates are from GeoNames (CC BY 4.0)',
  );
  await writeSorted(writer, blocks, options);
  writer.writeNotifications(source.notifications());
  // no clock: the same seed must give the same bytes
  writer.finish(EXPORTED_AT);
}

async function writeLines(
  fd: number,
  lines: AsyncIterable<Uint8Array>,
  zipped: boolean,
): Promise<void> {
  // synchronous, so that nothing is still being written when the descriptor is closed
  const sink = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) writeAll(fd, chunk);
  };
  if (zipped) await pipeline(lines, createGzip({ chunkSize: 1 << 20 }), sink);
  else await sink(lines);
}

async function pointBlocks(
  source: PointSource,
  onProgress: (points: number) => void,
): Promise<PointBlock[]> {
  const builder = new BlockBuilder();
  const blocks: PointBlock[] = [];
  for await (const batch of batches(source, onProgress)) {
    for (const point of batch) {
      const full = builder.add(point, Buffer.from(renderPoint(point)));
      if (full !== undefined) blocks.push(full);
    }
  }
  const last = builder.take();
  return last === undefined ? blocks : [...blocks, last];
}

async function* lines(
  source: PointSource,
  onProgress: (points: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const batch of batches(source, onProgress)) {
    yield Buffer.from(batch.map((point) => `${renderPoint(point)}\n`).join(''));
  }
}

/**
 * All points, in order; `onProgress` hears how many have come. Making and writing them is
 * synchronous: without a turn of the event loop before each batch, no signal would be heard.
 */
async function* batches(
  source: PointSource,
  onProgress: (points: number) => void,
): AsyncGenerator<Point[], void, undefined> {
  for (let done = 0; done < source.count; ) {
    await turn();
    const count = Math.min(BATCH_POINTS, source.count - done);
    const from = done;
    yield Array.from({ length: count }, (_, i) => source.point(from + i));
    done += count;
    onProgress(done);
  }
}

function formOf(out: string): Form {
  const name = out.toLowerCase();
  if (name.endsWith('.waypost')) return 'native';
  if (/\.(ndjson|jsonl)$/.test(name)) return 'ndjson';
  if (/\.(ndjson|jsonl)\.gz$/.test(name)) return 'ndjson.gz';
  throw new InputError(
    `${out}: the name must end with .waypost for a native snapshot, or with .ndjson or ` +
      '.jsonl for one record a line (.ndjson.gz or .jsonl.gz for that, gzipped)',
  );
}

function requireWhole(name: string, value: number, low: number, high: number): void {
  if (isWhole(value, low, high)) return;
  throw new InputError(`${name} must be a whole number from ${low} to ${high}, got ${value}`);
}
