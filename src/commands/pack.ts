import { type BigIntStats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { InputError } from '../errors.js';
import type { Notification } from '../model/notification.js';
import { counted, megabytes, startProgress, whole } from '../progress.js';
import { writeAtomically } from '../snapshot/atomic-file.js';
import { readNotifications } from '../snapshot/files/notifications.js';
import { openSnapshot } from '../snapshot/files/open.js';
import { RecordAudit } from '../snapshot/native/audit.js';
import { type NativeTotals, NativeWriter } from '../snapshot/native/write.js';
import { problemTexts } from '../snapshot/problem-texts.js';
import type { LoadReport, SnapshotReader } from '../snapshot/snapshot.js';
import { sortWithProgress } from './sort.js';

export interface PackOptions {
  /** How many invalid records are left out before the input is refused; 0 where absent. */
  readonly maxInvalid?: number;
  /** A file of notifications to take instead of those that the input has. */
  readonly notificationsPath?: string;
  /** Takes each line of the summary; standard output where absent. */
  readonly print?: (line: string) => void;
  /** Where a progress bar may be drawn, if it is a terminal; standard error where absent. */
  readonly progressTo?: NodeJS.WriteStream;
  /** Aborted, it stops the work and leaves nothing behind. */
  readonly signal?: AbortSignal;
}

export interface PackSummary extends NativeTotals {
  readonly bytesRead: number;
  readonly seconds: number;
  /** What was found in the input. */
  readonly input: LoadReport;
}

/**
 * Writes the points of any supported file as a native snapshot, block by block, sorts them for loading,
 * and prints a summary. The output appears whole or not at all. Its time is that of the input, so that the
 * same input makes the same bytes. Throws an InputError when the input is broken or the output cannot be
 * written.
 */
export async function packSnapshot(
  input: string,
  output: string,
  options: PackOptions = {},
): Promise<PackSummary> {
  const { notificationsPath, signal } = options;
  const print = options.print ?? ((line) => process.stdout.write(`${line}\n`));
  for (const path of [input, notificationsPath]) {
    if (path !== undefined) refuseSameFile(path, output);
  }
  const started = performance.now();
  const bar = startProgress('Packing', options.progressTo);
  let reader: SnapshotReader | undefined;
  let bytesRead = 0;
  try {
    const notifications =
      notificationsPath === undefined ? undefined : await readNotifications(notificationsPath);
    reader = await openSnapshot(input, {
      maxInvalid: options.maxInvalid ?? 0,
      onProgress(read, total) {
        bytesRead = read;
        bar.update(read, total);
      },
    });
    const source = reader;
    const [report, totals] = await writeAtomically(
      output,
      async (fd, openScratch) => {
        const writer = new NativeWriter(fd, `waypost pack, from ${basename(input)}`);
        const [report, totals] = await copy(input, source, writer, notifications, signal);
        bar.stop();
        const sorted = await sortWithProgress(fd, output, openScratch, options);
        return [report, sorted ?? totals] as const;
      },
      signal,
    );
    bar.stop();
    const seconds = (performance.now() - started) / 1000;
    const summary = { ...totals, bytesRead, seconds, input: report };
    for (const line of summaryLines(input, output, summary)) print(line);
    return summary;
  } finally {
    bar.stop();
    reader?.close();
  }
}

async function copy(
  input: string,
  reader: SnapshotReader,
  writer: NativeWriter,
  notifications: readonly Notification[] | undefined,
  signal: AbortSignal | undefined,
): Promise<[LoadReport, NativeTotals]> {
  // what was packed must pass verification: rows were checked one by one, native records were not
  const audit =
    reader.format === 'native'
      ? new RecordAudit((reason) => {
          throw new InputError(`${input}: ${reason}`);
        })
      : undefined;
  for await (const block of reader.blocks()) {
    // some readers never wait: let signals and the bar have their turn
    await setImmediate();
    signal?.throwIfAborted();
    audit?.check(block);
    writer.write(block);
  }
  const report = reader.report();
  writer.writeNotifications(notifications ?? report.notifications);
  return [report, writer.finish(report.createdAt)];
}

/** By device and inode: two names, a symbolic link or a hard link can be one file. */
function refuseSameFile(input: string, output: string): void {
  const [from, to] = [identity(input), identity(output)];
  if (from !== undefined && to !== undefined && from.dev === to.dev && from.ino === to.ino) {
    throw new InputError(`${output}: cannot be written: it is the input itself (${input})`);
  }
}

function identity(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function summaryLines(input: string, output: string, summary: PackSummary): string[] {
  const { points, blocks, notifications, bytes, bytesRead, seconds, input: report } = summary;
  const rate = `${megabytes(bytesRead / seconds)}/s`;
  const lines = [
    `packed ${input} (${report.format}) into ${output}`,
    `${counted(points, 'point')}, ${counted(notifications, 'notification')}, ${counted(blocks, 'block')}`,
    `${megabytes(bytesRead)} read, ${megabytes(bytes)} written in ${seconds.toFixed(1)} s: ${rate}, ${whole(Math.round(points / seconds))} points/s`,
  ];
  if (report.invalid > 0) {
    lines.push(`${counted(report.invalid, 'invalid record')} left out:`);
    const texts = problemTexts(report.problems);
    for (const text of texts) lines.push(`  ${text}`);
    const more = report.invalid - texts.length;
    if (more > 0) lines.push(`  and ${whole(more)} more`);
  }
  lines.push(...unknownKeyLines(report));
  return lines;
}

/** What was dropped of records that are valid otherwise. */
export function unknownKeyLines(report: LoadReport): string[] {
  const keys = Object.entries(report.unknownKeys);
  if (keys.length === 0) return [];
  return [
    `unknown keys dropped: ${keys.map(([key, times]) => `${key} (${whole(times)})`).join(', ')}`,
  ];
}
