import { setImmediate } from 'node:timers/promises';
import { attributesOf } from '../formats/attributes.js';
import type { PointBlock } from '../formats/block.js';
import { openSnapshot } from '../formats/files/open.js';
import { NativeAudit } from '../formats/native/audit.js';
import type { NativeReader } from '../formats/native/read.js';
import {
  type Leniency,
  type LoadReport,
  type Progress,
  requirePoints,
  type SnapshotReader,
} from '../formats/snapshot.js';
import { InputError } from '../model/quote.js';
import { openTimeZone } from '../model/time-zone.js';
import { formatUtc } from '../model/timestamp.js';
import { IMAGE } from '../model/units.js';
import { counted, startProgress, whole } from '../serving/progress.js';
import { type RunOptions, STANDARD, tell, withInput } from './arguments.js';
import { reportLines } from './pack.js';

export type VerifyOptions = RunOptions & Leniency;

const MAX_REASONS = 10;

/**
 * Reads all of a snapshot file, or `-` for standard input, checks every rule, and tells what is in
 * it. Of a native file it also checks what serving takes on trust: each record's JSON, its columns,
 * and that ids are unique. A file with more invalid records than `maxInvalid`, a page of a longer
 * list and a file without points are bad, too. Returns the exit code, 1 for a bad file.
 */
export async function verify(path: string, options: VerifyOptions = {}): Promise<0 | 1> {
  await openTimeZone(options.timeZone);
  return withInput(path, STANDARD, options, async (copy, name) => {
    const findings = new Findings();
    const bar = startProgress('Verifying', options);
    try {
      await read(copy, findings, options, bar.update);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof InputError)) throw error;
      findings.fail(error.message);
    } finally {
      bar.stop();
      findings.reader?.close();
    }
    // the copy of standard input is called by that name
    const lines = linesOf(name, findings).map((line) => line.replaceAll(copy, name));
    tell(lines, name, options);
    return findings.reasonCount === 0 ? 0 : 1;
  });
}

async function read(
  path: string,
  findings: Findings,
  options: VerifyOptions,
  onProgress: Progress,
): Promise<void> {
  const { timeZone, maxInvalid: allowed = 0 } = options;
  // finds every invalid record, not just the first
  const reading = { timeZone, maxInvalid: Number.MAX_SAFE_INTEGER, onProgress };
  const reader = await openSnapshot(path, reading);
  findings.reader = reader;
  const audit =
    reader.format === 'native' ? new NativeAudit((reason) => findings.fail(reason)) : undefined;
  for await (const block of reader.blocks()) {
    findings.add(block);
    audit?.check(block);
    await setImmediate();
  }
  const load = reader.report();
  findings.load = load;
  audit?.checkNotifications(load.notifications);
  if (load.invalid > allowed) {
    for (const text of load.problems) findings.fail(text);
    findings.reasonCount = load.invalid;
  } else {
    requirePoints(path, load, options);
  }
}

/** What is in a snapshot file, as far as it was read, and what is wrong with it. */
class Findings {
  /** Undefined when the file could not be opened as any. */
  reader: SnapshotReader | undefined;
  /** What the reader found; undefined when the file is broken. */
  load: LoadReport | undefined;
  points = 0;
  blocks = 0;
  withTags = 0;
  withImage = 0;
  readonly lat = new Span();
  readonly lon = new Span();
  readonly createdAt = new Span();
  readonly modifiedAt = new Span();
  /** Why the file is not good: the first few reasons, and how many there are. */
  readonly reasons: string[] = [];
  reasonCount = 0;

  fail(reason: string): void {
    this.reasonCount += 1;
    if (this.reasons.length < MAX_REASONS) this.reasons.push(reason);
  }

  add(block: PointBlock): void {
    this.points += block.count;
    this.blocks += 1;
    const { flags, tagCounts } = block.attributes ?? attributesOf(block.records, block.length);
    for (const one of flags) if (one & IMAGE) this.withImage += 1;
    for (const tags of tagCounts) if (tags > 0) this.withTags += 1;
    for (const name of ['lat', 'lon', 'createdAt', 'modifiedAt'] as const) {
      this[name].widen(block[name]);
    }
  }
}

export class Span {
  first: number = Infinity;
  last: number = -Infinity;

  widen(values: Iterable<number>): void {
    for (const value of values) {
      if (value < this.first) this.first = value;
      if (value > this.last) this.last = value;
    }
  }
}

function linesOf(path: string, findings: Findings): string[] {
  const { reader, load, points, blocks, lat, lon, reasons, reasonCount } = findings;
  const lines: string[] = [];
  if (reader !== undefined) {
    const inBlocks = reader.format === 'native' ? `, ${counted(blocks, 'block')}` : '';
    lines.push(`${path}: ${reader.format}, ${counted(points, 'point')}${inBlocks}`);
  }
  if (reader?.format === 'native') {
    const { origin } = reader as NativeReader;
    lines.push(`  origin         ${origin.replaceAll('\n', ' ')}`);
  }
  if (load !== undefined) {
    lines.push(`  exported       ${formatUtc(Math.round(load.createdAt * 1000))}`);
    lines.push(`  notifications  ${whole(load.notifications.length)}`);
    const { watermark } = load;
    if (watermark !== undefined) {
      lines.push(`  journal        ${watermark.journal} up to ${whole(watermark.sequence)}`);
    }
  }
  if (points > 0) {
    lines.push(
      `  extent         lon ${lon.first} to ${lon.last}, lat ${lat.first} to ${lat.last}`,
      `  created        ${spanText(findings.createdAt)}`,
      `  modified       ${spanText(findings.modifiedAt)}`,
      `  with tags      ${whole(findings.withTags)}`,
      `  with an image  ${whole(findings.withImage)}`,
    );
  }
  if (load !== undefined) {
    lines.push(`  digest         ${load.digest}`);
    // invalid records that are why the file is not good are named below
    for (const line of reportLines(load, reasonCount === 0)) lines.push(`  ${line}`);
  }
  if (reasonCount === 0) return [...lines, 'good'];
  lines.push(`not good, for ${counted(reasonCount, 'reason')}:`);
  for (const reason of reasons) lines.push(`  ${reason}`);
  const more = reasonCount - reasons.length;
  if (more > 0) lines.push(`  and ${whole(more)} more`);
  return lines;
}

function spanText({ first, last }: Span): string {
  return `${formatUtc(first)} to ${formatUtc(last)}`;
}
