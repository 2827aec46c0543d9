import { type Span, type VerifyReport, verifySnapshot } from '../formats/files/verify.js';
import type { Leniency } from '../formats/snapshot.js';
import { openTimeZone } from '../model/time-zone.js';
import { formatUtc } from '../model/timestamp.js';
import { counted, startProgress, whole } from '../serving/progress.js';
import { leftOutLines, localTimeLines, pageLines, unknownKeyLines } from './pack.js';
import { type RunOptions, STANDARD, tell, withInput } from './standard-streams.js';

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
