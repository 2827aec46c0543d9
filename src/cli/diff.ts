import { once } from 'node:events';
import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import { type Comparison, compareSnapshots, type Difference } from '../formats/files/compare.js';
import type { ReadOptions } from '../formats/snapshot.js';
import { forTerminal } from '../model/quote.js';
import { openTimeZone } from '../model/time-zone.js';
import { counted, startProgress, whole } from '../serving/progress.js';
import type { RunOptions } from './arguments.js';

export interface DiffOptions extends Pick<RunOptions, 'maxInvalid' | 'timeZone' | 'progressTo'> {
  /** `summary` for people, `ndjson` for a line for each difference. */
  readonly format: 'summary' | 'ndjson';
  readonly output?: Writable;
}

/** Ids that a summary names of each kind. */
const FEW = 5;

/**
 * Tells what came, went and changed from one snapshot file to another, of any formats. Returns the
 * exit code of diff(1): 0 where the points are the same, 1 where they differ. Throws an InputError
 * where a file is broken.
 */
export async function diff(first: string, second: string, options: DiffOptions): Promise<0 | 1> {
  const { format, maxInvalid = 0, timeZone, output = process.stdout, progressTo } = options;
  if (timeZone !== undefined) await openTimeZone(timeZone);
  const few: Record<Difference['change'], number[]> = { came: [], went: [], changed: [] };
  const write = async (line: string): Promise<void> => {
    if (!output.write(`${line}\n`)) await once(output, 'drain');
  };
  let bar: ReturnType<typeof startProgress> | undefined;
  const reading = (path: string): ReadOptions => {
    bar?.stop();
    const drawn = startProgress(`Reading ${basename(path)}`, progressTo);
    bar = drawn;
    return { maxInvalid, timeZone, onProgress: drawn.update };
  };
  try {
    const found = await compareSnapshots(first, second, reading, async (difference) => {
      const ids = few[difference.change];
      if (ids.length < FEW) ids.push(difference.id);
      if (format === 'ndjson') await write(lineOf(difference));
    });
    bar?.stop();
    const lines = format === 'ndjson' ? [] : summaryLines([first, second], found, few);
    for (const line of lines) await write(forTerminal(line));
    return Object.values(found.counts).every((count) => count === 0) ? 0 : 1;
  } finally {
    bar?.stop();
  }
}

/** `{"change":…,"id":…,"fields":[…],"record":{…}}`: the record as it is rendered. */
function lineOf({ change, id, fields, record }: Difference): string {
  const named = fields === undefined ? '' : `,"fields":${JSON.stringify(fields)}`;
  return `{"change":"${change}","id":${id}${named},"record":${record}}`;
}

function summaryLines(
  paths: readonly string[],
  { reports, counts, fields, extent }: Comparison,
  few: Readonly<Record<Difference['change'], readonly number[]>>,
): string[] {
  const lines = reports.map(
    ({ format, points }, at) => `${paths[at]}: ${format}, ${counted(points, 'point')}`,
  );
  if (extent === undefined) return [...lines, 'the points are the same'];
  for (const change of ['came', 'went', 'changed'] as const) {
    const more = counts[change] > FEW ? ', …' : '';
    const ids = few[change].length === 0 ? '' : `: ids ${few[change].join(', ')}${more}`;
    lines.push(`  ${change.padEnd(14)} ${whole(counts[change])}${ids}`);
  }
  for (const [field, count] of fields) lines.push(`    ${field.padEnd(12)} ${whole(count)}`);
  const { west, south, east, north } = extent;
  return [...lines, `  within         lon ${west} to ${east}, lat ${south} to ${north}`];
}
