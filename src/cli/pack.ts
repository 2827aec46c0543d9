import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { PointBlock } from '../formats/block.js';
import { readNotifications } from '../formats/files/notifications.js';
import { openSnapshot } from '../formats/files/open.js';
import { NativeAudit } from '../formats/native/audit.js';
import type { Labels } from '../formats/native/encode.js';
import { sortBlocks } from '../formats/native/sort.js';
import type { NativeTotals } from '../formats/native/write.js';
import { type Output, writeBlocks } from '../formats/native/write-blocks.js';
import {
  type Leniency,
  type LoadReport,
  requirePoints,
  type SnapshotReader,
  type Watermark,
} from '../formats/snapshot.js';
import type { Notification } from '../model/notification.js';
import { InputError } from '../model/quote.js';
import { openTimeZone } from '../model/time-zone.js';
import { counted, countPoints, megabytes, startProgress, whole } from '../serving/progress.js';
import { nameOf, type RunOptions, STANDARD, tell, withInput, writeOutput } from './arguments.js';
import type { JournaledPoints } from './journal-posts.js';

export interface PackOptions extends RunOptions, Leniency {
  /** The watermark; by default that of a native input. */
  readonly journalThrough?: Watermark;
  /** Journal whose posts belong to the input: a file, or the address of a service. */
  readonly journal?: string;
  /** A file of notifications, in place of those of the input. */
  readonly notifications?: string;
}

/**
 * Writes the points of any supported file as a native snapshot, sorted for loading, whole or not at
 * all, and prints a summary. All points are held in memory. Its time is that of the input, so that
 * the same input makes the same bytes; of standard input, the time of reading. Posts of a journal
 * are added where the input lacks them; one whose id the input uses for another record gets a new
 * one. The watermark names all posts. Throws an InputError when the input is broken or the output
 * cannot be written.
 */
export async function packSnapshot(
  input: string,
  output: string,
  options: PackOptions = {},
): Promise<void> {
  await openTimeZone(options.timeZone);
  refuseSameFile([input, options.notifications, options.journal], output);
  await withInput(input, output, options, (path, name) => packFile(path, name, output, options));
}

/** Reads the posts of a journal that belong to a snapshot. Throws as `readPosts` does. */
export async function postsBeside(
  journal: string | undefined,
): Promise<JournaledPoints | undefined> {
  if (journal === undefined) return undefined;
  const { JournaledPoints, readPosts } = await import('./journal-posts.js');
  return new JournaledPoints(journal, await readPosts(journal));
}

async function packFile(
  input: string,
  name: string,
  output: string,
  options: PackOptions,
): Promise<void> {
  const { stdout = process.stdout, notifications: extra } = options;
  if (output === STANDARD && stdout.isTTY === true) {
    throw new InputError(
      'A native snapshot is nothing for a terminal: send it to a file or a pipe.',
    );
  }
  const started = performance.now();
  const notifications = extra === undefined ? extra : await readNotifications(extra, options);
  const bar = startProgress('Packing', options);
  const reading = { ...options, threads: availableParallelism(), onProgress: bar.update };
  const reader = await openSnapshot(input, reading);
  try {
    const further = await postsBeside(options.journal);
    const bytesRead = statSync(input).size;
    const [report, totals] = await writeOutput(output, options, async (to) => {
      const origin = further === undefined ? `pack, from ${basename(name)}` : further.origin;
      const blocks = await read(input, reader, further, options);
      bar.stop();
      const report = reader.report();
      // posts alone make a good snapshot, too
      const allowEmpty = options.allowEmpty || (further?.latest ?? 0) > 0;
      requirePoints(input, report, { allowEmpty });
      const createdAt = Math.max(report.createdAt, further?.latest ?? report.createdAt);
      const watermark = further?.watermark ?? options.journalThrough ?? report.watermark;
      const labels = { origin: `waypost ${origin}`, createdAt, watermark };
      const unseen = notifications ?? report.notifications;
      return [report, await writeSorted(to, labels, blocks, unseen, options)] as const;
    });
    const seconds = (performance.now() - started) / 1000;
    const rate = `${megabytes(bytesRead / seconds)}/s`;
    const lines = [
      `packed ${name} (${report.format}) into ${nameOf(output)}`,
      `${counted(totals.points, 'point')}, ${counted(totals.notifications, 'notification')}, ` +
        `${counted(totals.blocks, 'block')}`,
      `${megabytes(bytesRead)} read, ${megabytes(totals.bytes)} written in ` +
        `${seconds.toFixed(1)} s: ${rate}, ${whole(Math.round(totals.points / seconds))} points/s`,
      ...reportLines(report),
      ...(further?.summary ?? []),
    ];
    tell(lines, output, options);
  } finally {
    bar.stop();
    reader.close();
  }
}

async function read(
  input: string,
  reader: SnapshotReader,
  further: JournaledPoints | undefined,
  { signal, notifications }: PackOptions,
): Promise<readonly PointBlock[]> {
  // what is packed must pass `verify`: rows are checked by their reader, native records are not
  const audit =
    reader.format === 'native'
      ? new NativeAudit((reason) => {
          throw new InputError(`${input}: ${reason}`);
        })
      : undefined;
  const blocks: PointBlock[] = [];
  for await (const block of further?.blocksBehind(reader) ?? reader.blocks()) {
    // some readers never wait: signals and the bar have their turn here
    await setImmediate();
    signal?.throwIfAborted();
    audit?.check(block);
    blocks.push(block);
  }
  if (notifications === undefined) audit?.checkNotifications(reader.report().notifications);
  return blocks;
}

/** Compares device and inode: a symbolic or hard link is the same file. */
export function refuseSameFile(inputs: readonly (string | undefined)[], output: string): void {
  const to = identity(output);
  for (const input of inputs) {
    if (to === undefined || input === undefined || identity(input) !== to) continue;
    throw new InputError(`${output}: cannot be written: it is the input itself (${input})`);
  }
}

function identity(path: string): string | undefined {
  if (path === STANDARD) return undefined;
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    // whoever reads or writes it says why
    return undefined;
  }
}

/**
 * Tells what was left out of an input, dropped or assumed. Where the input is not good, invalid
 * records are only counted.
 */
export function reportLines(report: LoadReport, isGood = true): string[] {
  const { invalid, problems, unknownKeys, localTimes } = report;
  const lines: string[] = [];
  if (invalid > 0) {
    lines.push(`${counted(invalid, 'invalid record')}${isGood ? ' left out:' : ''}`);
    const texts = isGood ? problems : [];
    lines.push(...texts.map((text) => `  ${text}`));
    const more = invalid - texts.length;
    if (isGood && more > 0) lines.push(`  and ${whole(more)} more`);
  }
  const keys = Object.entries(unknownKeys).map(
    ([key, times]) => `${key || '""'} (${whole(times)})`,
  );
  if (keys.length > 0) lines.push(`unknown keys dropped: ${keys.join(', ')}`);
  if (localTimes !== undefined) {
    // the times may have been meant for another zone
    const { count, zone } = localTimes;
    lines.push(`${counted(count, 'time')} without an offset, read as ${zone} (--time-zone)`);
  }
  return lines;
}

export async function writeSorted(
  output: Output,
  labels: Omit<Labels, 'count'>,
  blocks: readonly PointBlock[],
  notifications: readonly Notification[],
  options: RunOptions,
): Promise<NativeTotals> {
  const bar = startProgress('Sorting', options, countPoints);
  const count = blocks.reduce((sum, block) => sum + block.count, 0);
  async function* sorted(): AsyncGenerator<PointBlock, void, undefined> {
    let done = 0;
    for (const block of sortBlocks(blocks)) {
      done += block.count;
      bar.update(done, count);
      yield block;
      // signals are heard, and the block goes to its thread, before the next one is made
      await setImmediate();
    }
  }
  try {
    return await writeBlocks(output, { ...labels, count }, sorted(), notifications);
  } finally {
    bar.stop();
  }
}
