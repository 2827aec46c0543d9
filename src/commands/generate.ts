import { fstatSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { InputError } from '../errors.js';
import { pointBlocks, toLines } from '../generate/blocks.js';
import { EXPORTED_AT } from '../generate/clock.js';
import { MAX_POINTS, MAX_SEED } from '../generate/limits.js';
import { PointSource } from '../generate/points.js';
import { isWhole } from '../model/whole.js';
import { counted, countPoints, megabytes, startProgress } from '../progress.js';
import { writeAtomically } from '../snapshot/atomic-file.js';
import type { PointBlock } from '../snapshot/block.js';
import { NativeWriter } from '../snapshot/native/write.js';
import { writeAll } from '../snapshot/write-all.js';
import { sortWithProgress } from './sort.js';

export interface GenerateOptions {
  /** How many, 1 to {@link MAX_POINTS}. */
  readonly points: number;
  /** 0 to {@link MAX_SEED}: the same seed gives the same file. */
  readonly seed: number;
  /** Its ending chooses the form. */
  readonly out: string;
  /** Takes the line that says what was written. */
  readonly print: (line: string) => void;
  /** Where a progress bar may be drawn, if it is a terminal; standard error where absent. */
  readonly progressTo?: NodeJS.WriteStream;
  /** Aborted, it stops the work; no file is left behind. */
  readonly signal?: AbortSignal;
}

type Form = 'native' | 'ndjson' | 'ndjson.gz';

/**
 * Writes invented points, and for a native file notifications too. Memory does not grow with their
 * number, but for the sorting of a native file, which has a limit. The file appears under its name
 * once it is complete. Throws an InputError when an option is out of range, the name has no known
 * ending or the file cannot be written.
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
    const blocks = watched(pointBlocks(source), (done) => {
      signal?.throwIfAborted();
      bar.update(done, points);
    });
    const bytes = await writeAtomically(
      out,
      async (fd, openScratch) => {
        if (form === 'native') {
          await writeNative(fd, source, seed, blocks);
          bar.stop();
          await sortWithProgress(fd, out, openScratch, options);
        } else {
          await writeLines(fd, blocks, form === 'ndjson.gz');
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
  seed: number,
  blocks: AsyncIterable<PointBlock>,
): Promise<void> {
  const writer = new NativeWriter(
    fd,
    `waypost generate --points ${source.count} --seed ${seed}: invented notes around real cities, whose coordinates are from GeoNames (CC BY 4.0)`,
  );
  for await (const block of blocks) writer.write(block);
  writer.writeNotifications(source.notifications());
  // no clock: the same seed must give the same bytes
  writer.finish(EXPORTED_AT);
}

async function writeLines(
  fd: number,
  blocks: AsyncIterable<PointBlock>,
  zipped: boolean,
): Promise<void> {
  // synchronous, so that nothing is still being written when the descriptor is closed
  const sink = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) writeAll(fd, chunk);
  };
  if (zipped) await pipeline(lines(blocks), createGzip({ chunkSize: 1 << 20 }), sink);
  else await sink(lines(blocks));
}

async function* lines(blocks: AsyncIterable<PointBlock>): AsyncGenerator<Buffer, void, undefined> {
  for await (const block of blocks) yield toLines(block);
}

/**
 * The same blocks; `onBlock` hears how many points have come. Making and writing them is
 * synchronous: without a turn of the event loop before each, no signal would be heard.
 */
async function* watched(
  blocks: Iterable<PointBlock>,
  onBlock: (points: number) => void,
): AsyncGenerator<PointBlock, void, undefined> {
  let done = 0;
  for (const block of blocks) {
    await turn();
    done += block.count;
    onBlock(done);
    yield block;
  }
}

function formOf(out: string): Form {
  const name = out.toLowerCase();
  if (name.endsWith('.waypost')) return 'native';
  if (/\.(ndjson|jsonl)$/.test(name)) return 'ndjson';
  if (/\.(ndjson|jsonl)\.gz$/.test(name)) return 'ndjson.gz';
  throw new InputError(
    `${out}: the name must end with .waypost for a native snapshot, or with .ndjson or .jsonl for one record a line (.ndjson.gz or .jsonl.gz for that, gzipped)`,
  );
}

function requireWhole(name: string, value: number, low: number, high: number): void {
  if (isWhole(value, low, high)) return;
  throw new InputError(`${name} must be a whole number from ${low} to ${high}, got ${value}`);
}
