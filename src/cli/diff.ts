import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { openSnapshot } from '../formats/files/open.js';
import { rendered, type StoredRecord } from '../formats/record-layout.js';
import type { LoadReport } from '../formats/snapshot.js';
import { lowerBound } from '../index/order.js';
import { RECORD_KEYS } from '../model/point.js';
import { forTerminal, InputError } from '../model/quote.js';
import { openTimeZone } from '../model/time-zone.js';
import type { Degrees } from '../model/units.js';
import { counted, startProgress, whole } from '../serving/progress.js';
import { type RunOptions, send } from './arguments.js';
import { Span } from './verify.js';

export interface DiffOptions extends Omit<RunOptions, 'stdin' | 'print'> {
  /** `summary` for people, `ndjson` for a line for each difference. */
  readonly format: 'summary' | 'ndjson';
}

const CHANGES = ['came', 'went', 'changed'] as const;
type Change = (typeof CHANGES)[number];

/** Ids that a summary names of each change. */
const FEW = 5;
const [UNSEEN, SAME, CHANGED] = [0, 1, 2];

/**
 * Tells what came, went and changed from one snapshot file to another, of any formats. Returns the
 * exit code of diff(1), 1 where points differ. Each file is read twice: for ids and hashes, some 30
 * bytes a point in memory, then for what differs, with the old record of each changed point. What
 * went is told in the order of the first file, then what came or changed in that of the second.
 * Throws an InputError where a file is broken or changes meanwhile, and the reason of the signal.
 */
export async function diff(first: string, second: string, options: DiffOptions): Promise<0 | 1> {
  await openTimeZone(options.timeZone);
  const differences = new Differences(options);
  const [before, then] = await readHashes(first, options);
  const states = new Uint8Array(before.ids.length);
  let came = 0;
  const now = await readRecords(second, options, (id, record) => {
    const at = before.find(id);
    if (at === -1) came++;
    else states[at] = before.has(at, record) ? SAME : CHANGED;
  });
  const changed = new Map<number, StoredRecord>();
  if (states.some((state) => state !== SAME)) {
    await readAgain(first, options, then, async (id, record, lon, lat) => {
      const state = states[before.find(id)];
      if (state === CHANGED) {
        changed.set(id, Buffer.from(record));
        differences.extend(lon, lat);
      }
      if (state === UNSEEN) await differences.add('went', id, record, lon, lat);
    });
  }
  if (came > 0 || changed.size > 0) {
    await readAgain(second, options, now, async (id, record, lon, lat) => {
      if (before.find(id) === -1) return differences.add('came', id, record, lon, lat);
      const was = changed.get(id);
      if (was === undefined) return;
      const [old, own] = [was, record].map((one) => JSON.parse(`${rendered(one)}`));
      const fields = RECORD_KEYS.filter((key) => !isDeepStrictEqual(old[key], own[key]));
      // a native file may have the same values in other bytes
      if (fields.length > 0) await differences.add('changed', id, record, lon, lat, fields);
    });
  }
  const lines = [then, now].map(
    ({ format, points }, at) => `${[first, second][at]}: ${format}, ${counted(points, 'point')}`,
  );
  if (options.format === 'summary') await differences.summarize(lines);
  return CHANGES.every((change) => differences.counts[change] === 0) ? 0 : 1;
}

/** What differs, told line by line or in a summary. */
class Differences {
  readonly counts: Record<Change, number> = { came: 0, went: 0, changed: 0 };
  readonly #few: Record<Change, number[]> = { came: [], went: [], changed: [] };
  /** Points with another value, by key. */
  readonly #fields = new Map<string, number>();
  /** The extent of all that differs, before and after. */
  readonly #lon = new Span();
  readonly #lat = new Span();
  readonly #options: DiffOptions;

  constructor(options: DiffOptions) {
    this.#options = options;
  }

  /** Writes `{"change":…,"id":…,"fields":[…],"record":{…}}`. */
  async add(
    change: Change,
    id: number,
    record: StoredRecord,
    lon: Degrees,
    lat: Degrees,
    fields: readonly string[] = [],
  ): Promise<void> {
    this.counts[change]++;
    for (const field of fields) this.#fields.set(field, (this.#fields.get(field) ?? 0) + 1);
    if (this.#few[change].length < FEW) this.#few[change].push(id);
    this.extend(lon, lat);
    if (this.#options.format !== 'ndjson') return;
    const named = change === 'changed' ? `,"fields":${JSON.stringify(fields)}` : '';
    await this.#write(`{"change":"${change}","id":${id}${named},"record":${rendered(record)}}`);
  }

  extend(lon: Degrees, lat: Degrees): void {
    this.#lon.widen([lon]);
    this.#lat.widen([lat]);
  }

  async summarize(files: readonly string[]): Promise<void> {
    const lines = [...files];
    const [lon, lat] = [this.#lon, this.#lat];
    const isSame = lon.first > lon.last;
    for (const change of isSame ? [] : CHANGES) {
      const [count, few] = [this.counts[change], this.#few[change]];
      const ids = count === 0 ? '' : `: ids ${few.join(', ')}${count > FEW ? ', …' : ''}`;
      lines.push(`  ${change.padEnd(14)} ${whole(count)}${ids}`);
    }
    for (const [field, count] of this.#fields)
      lines.push(`    ${field.padEnd(12)} ${whole(count)}`);
    const within = `lon ${lon.first} to ${lon.last}, lat ${lat.first} to ${lat.last}`;
    lines.push(isSame ? 'the points are the same' : `  within         ${within}`);
    for (const line of lines) await this.#write(forTerminal(line));
  }

  #write(line: string): Promise<void> {
    return send(`${line}\n`, this.#options);
  }
}

/** The ids of a file, ascending, and 48 bits of a hash of each record. */
class Hashes {
  readonly ids: Float64Array;
  readonly #hashes: Float64Array;

  constructor(ids: readonly number[], hashes: readonly number[]) {
    const order = Uint32Array.from(ids.keys()).sort((a, b) => ids[a]! - ids[b]!);
    this.ids = Float64Array.from(order, (place) => ids[place]!);
    this.#hashes = Float64Array.from(order, (place) => hashes[place]!);
  }

  /** The place of an id; -1 where there is none. */
  find(id: number): number {
    const at = lowerBound(this.ids, id);
    return this.ids[at] === id ? at : -1;
  }

  has(place: number, record: Uint8Array): boolean {
    return this.#hashes[place] === hashOf(record);
  }
}

async function readHashes(path: string, options: DiffOptions): Promise<[Hashes, LoadReport]> {
  const [ids, hashes]: [number[], number[]] = [[], []];
  const report = await readRecords(path, options, (id, record) => {
    ids.push(id);
    hashes.push(hashOf(record));
  });
  return [new Hashes(ids, hashes), report];
}

function hashOf(record: Uint8Array): number {
  return hash('sha1', record, 'buffer').readUIntLE(0, 6);
}

type Visit = (id: number, record: StoredRecord, lon: Degrees, lat: Degrees) => void | Promise<void>;

async function readRecords(path: string, options: DiffOptions, visit: Visit): Promise<LoadReport> {
  const bar = startProgress(`Reading ${basename(path)}`, options);
  const reader = await openSnapshot(path, { ...options, onProgress: bar.update });
  try {
    for await (const { count, id, lon, lat, length, records } of reader.blocks()) {
      let end = 0;
      for (let i = 0; i < count; i++) {
        const record = records.subarray(end, end + length[i]!);
        end += length[i]!;
        const visited = visit(id[i]!, record, lon[i]!, lat[i]!);
        if (visited !== undefined) await visited;
      }
      // some readers never wait: signals and the bar have their turn here
      await setImmediate();
    }
    return reader.report();
  } finally {
    bar.stop();
    reader.close();
  }
}

/** Reads a file once more. Throws an InputError where it has changed. */
async function readAgain(
  path: string,
  options: DiffOptions,
  { digest }: LoadReport,
  visit: Visit,
): Promise<void> {
  const report = await readRecords(path, options, visit);
  if (report.digest !== digest) throw new InputError(`${path}: it changed while it was read`);
}
