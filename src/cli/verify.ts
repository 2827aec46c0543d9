import { setImmediate } from 'node:timers/promises';
import { openSnapshot } from '../formats/files/open.js';
import { NativeAudit } from '../formats/native/audit.js';
import type { NativeReader } from '../formats/native/read.js';
import {
  doubtOf,
  type Leniency,
  type LoadReport,
  problemTexts,
  type ReadOptions,
  type SnapshotFormat,
  type SnapshotReader,
} from '../formats/snapshot.js';
import type { Box } from '../model/query.js';
import { InputError } from '../model/quote.js';
import { openTimeZone } from '../model/time-zone.js';
import { formatUtc } from '../model/timestamp.js';
import type { Microseconds } from '../model/units.js';
import { counted, startProgress, whole } from '../serving/progress.js';
import { type RunOptions, STANDARD, tell, withInput } from './arguments.js';
import { leftOutLines, localTimeLines, pageLines, unknownKeyLines } from './pack.js';

export type VerifyOptions = RunOptions & Leniency;

/** Verifies a file, or `-` for standard input. Returns the exit code, 1 for a bad file. */
export async function verify(path: string, options: VerifyOptions = {}): Promise<0 | 1> {
  await openTimeZone(options.timeZone ?? 'UTC');
  return withInput(path, STANDARD, options, (copy, name) => verifyFile(copy, name, options));
}

async function verifyFile(path: string, name: string, options: VerifyOptions): Promise<0 | 1> {
  const bar = startProgress('Verifying', options.progressTo);
  let report: VerifyReport;
  try {
    report = await verifySnapshot(path, { ...options, onProgress: bar.update });
  } finally {
    bar.stop();
  }
  tell(reportLines(name, report), name, options);
  return report.reasonCount === 0 ? 0 : 1;
}

function reportLines(path: string, report: VerifyReport): string[] {
  const { format, origin, points, blocks, extent, load } = report;
  const lines: string[] = [];
  if (format !== undefined) {
    const inBlocks = format === 'native' ? `, ${counted(blocks, 'block')}` : '';
    lines.push(`${path}: ${format}, ${counted(points, 'point')}${inBlocks}`);
  }
  if (origin !== undefined) lines.push(`  origin         ${origin.replaceAll('\n', ' ')}`);
  if (load !== undefined) {
    lines.push(`  exported       ${formatUtc(Math.round(load.createdAt * 1000))}`);
    lines.push(`  notifications  ${whole(load.notifications.length)}`);
    const { watermark } = load;
    if (watermark !== undefined) {
      lines.push(`  journal        ${watermark.journal} up to ${whole(watermark.sequence)}`);
    }
  }
  if (extent !== undefined) {
    const { west, south, east, north } = extent;
    lines.push(`  extent         lon ${west} to ${east}, lat ${south} to ${north}`);
    lines.push(`  created        ${spanText(report.createdAt)}`);
    lines.push(`  modified       ${spanText(report.modifiedAt)}`);
    lines.push(`  with tags      ${whole(report.withTags)}`);
    lines.push(`  with an image  ${whole(report.withImage)}`);
  }
  if (load !== undefined) {
    lines.push(`  digest         ${load.digest}`);
    // where they are why the file is not good, they are named below
    const named = report.reasonCount === 0 ? leftOutLines(load) : [];
    if (named.length > 0) lines.push(...named.map((line) => `  ${line}`));
    else if (load.invalid > 0) lines.push(`  ${counted(load.invalid, 'invalid record')}`);
    for (const line of [...unknownKeyLines(load), ...localTimeLines(load)]) lines.push(`  ${line}`);
    if (report.reasonCount === 0) lines.push(...pageLines(load).map((line) => `  ${line}`));
  }
  if (report.reasonCount === 0) return [...lines, 'good'];
  lines.push(`not good, for ${counted(report.reasonCount, 'reason')}:`);
  for (const reason of report.reasons) lines.push(`  ${reason}`);
  const more = report.reasonCount - report.reasons.length;
  if (more > 0) lines.push(`  and ${whole(more)} more`);
  return lines;
}

function spanText(span: Span | undefined): string {
  return span === undefined ? '' : `${formatUtc(span.first)} to ${formatUtc(span.last)}`;
}

const MAX_REASONS = 10;

interface Span {
  readonly first: Microseconds;
  readonly last: Microseconds;
}

/** What a snapshot file holds, as far as it was read, and what is wrong with it. */
export interface VerifyReport {
  /** Undefined when the file could not be opened as any. */
  readonly format: SnapshotFormat | undefined;
  /** What a native file says of where its points come from. */
  readonly origin: string | undefined;
  readonly points: number;
  readonly blocks: number;
  readonly withTags: number;
  readonly withImage: number;
  /** The smallest box around the points; undefined when there are none. */
  readonly extent: Box | undefined;
  readonly createdAt: Span | undefined;
  readonly modifiedAt: Span | undefined;
  /** What the reader found; undefined when the file is broken. */
  readonly load: LoadReport | undefined;
  /** Why the file is not good: the first few reasons, and how many there are. */
  readonly reasons: readonly string[];
  readonly reasonCount: number;
}

/**
 * Reads all of a snapshot file and checks every rule there is. Of a native file that is also what
 * serving takes on trust: each record's own JSON, its columns, and that ids are unique. A bad file
 * is no error but a report with reasons; more invalid records than `maxInvalid` are one, and so are
 * a page of a longer list and a file without points.
 */
export async function verifySnapshot(
  path: string,
  options: ReadOptions & Leniency,
): Promise<VerifyReport> {
  const reasons: string[] = [];
  let reasonCount = 0;
  const fail = (reason: string): void => {
    reasonCount += 1;
    if (reasons.length < MAX_REASONS) reasons.push(reason);
  };
  let [points, blocks, withTags, withImage] = [0, 0, 0, 0];
  let [lat, lon]: (Span | undefined)[] = [];
  let [createdAt, modifiedAt]: (Span | undefined)[] = [];
  let reader: SnapshotReader | undefined;
  let load: LoadReport | undefined;
  try {
    // every invalid record is to be found, not just the first
    reader = await openSnapshot(path, { ...options, maxInvalid: Number.MAX_SAFE_INTEGER });
    const audit = reader.format === 'native' ? new NativeAudit(fail) : undefined;
    for await (const block of reader.blocks()) {
      points += block.count;
      blocks += 1;
      // inside a text every quote has a backslash before it, so these can only be keys
      withTags += occurrences(block.records, ',"tags":[');
      withImage += occurrences(block.records, ',"image":"');
      lat = widened(lat, block.lat);
      lon = widened(lon, block.lon);
      createdAt = widened(createdAt, block.createdAt);
      modifiedAt = widened(modifiedAt, block.modifiedAt);
      audit?.check(block);
      await setImmediate();
    }
    load = reader.report();
    audit?.checkNotifications(load.notifications);
    if (load.invalid > (options.maxInvalid ?? 0)) {
      for (const text of problemTexts(load.problems)) fail(text);
      reasonCount = load.invalid;
    } else {
      const doubt = doubtOf(load, options);
      if (doubt !== undefined) fail(`${path}: ${doubt}`);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    fail(error.message);
  } finally {
    reader?.close();
  }
  const origin = reader?.format === 'native' ? (reader as NativeReader).origin : undefined;
  const extent = lat &&
    lon && { west: lon.first, south: lat.first, east: lon.last, north: lat.last };
  return {
    ...{ format: reader?.format, origin, points, blocks, withTags, withImage, extent },
    ...{ createdAt, modifiedAt, load, reasons, reasonCount },
  };
}

/** The span with the values of a column, too. */
function widened(span: Span | undefined, column: Float64Array): Span | undefined {
  let { first, last } = span ?? { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
  for (const value of column) {
    if (value < first) first = value;
    if (value > last) last = value;
  }
  return first <= last ? { first, last } : undefined;
}

function occurrences(bytes: Uint8Array, text: string): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = 0;
  for (let at = buffer.indexOf(text); at >= 0; at = buffer.indexOf(text, at + text.length)) found++;
  return found;
}
