import { setImmediate } from 'node:timers/promises';
import type { Box } from '../../model/query.js';
import { InputError } from '../../model/quote.js';
import type { Microseconds } from '../../model/units.js';
import { NativeAudit } from '../native/audit.js';
import type { NativeReader } from '../native/read.js';
import {
  doubtOf,
  type Leniency,
  type LoadReport,
  problemTexts,
  type ReadOptions,
  type SnapshotFormat,
  type SnapshotReader,
} from '../snapshot.js';
import { openSnapshot } from './open.js';

const MAX_REASONS = 10;

export interface Span {
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
  const [lat, lon] = [new Range(), new Range()];
  const [created, modified] = [new Range(), new Range()];
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
      lat.add(block.lat);
      lon.add(block.lon);
      created.add(block.createdAt);
      modified.add(block.modifiedAt);
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
  const [ofLat, ofLon] = [lat.span(), lon.span()];
  const extent = ofLat &&
    ofLon && { west: ofLon.first, south: ofLat.first, east: ofLon.last, north: ofLat.last };
  return {
    ...{ format: reader?.format, origin, points, blocks, withTags, withImage, extent },
    ...{ createdAt: created.span(), modifiedAt: modified.span(), load, reasons, reasonCount },
  };
}

class Range {
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;

  add(column: Float64Array): void {
    for (const value of column) {
      if (value < this.#least) this.#least = value;
      if (value > this.#most) this.#most = value;
    }
  }

  span(): Span | undefined {
    return this.#least <= this.#most ? { first: this.#least, last: this.#most } : undefined;
  }
}

function occurrences(bytes: Uint8Array, text: string): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = 0;
  for (let at = buffer.indexOf(text); at >= 0; at = buffer.indexOf(text, at + text.length)) found++;
  return found;
}
