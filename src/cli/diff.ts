import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { COLUMN_NAMES, MAX_RECORD_BYTES } from '../formats/block.js';
import { openSnapshot } from '../formats/files/open.js';
import { rendered, type StoredRecord } from '../formats/record-layout.js';
import type { IsWanted, LoadReport } from '../formats/snapshot.js';
import { release } from '../model/memory.js';
import { RECORD_KEYS, type RecordKey } from '../model/point.js';
import { forTerminal, InputError } from '../model/quote.js';
import { openTimeZone } from '../model/time-zone.js';
import { counted, type ProgressBar, startProgress, whole } from '../serving/progress.js';
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
/** Bytes of records of the first file that are held at a time. */
const HELD_BYTES = 64 * 1024 * 1024;
/** The mark of a point of the second file that the first one has, too, beside a bit for each field. */
const FOUND = 1;

/**
 * Tells what came, went and changed from one snapshot file to another, of any formats. Returns the
 * exit code of diff(1), 1 where points differ. The first file is read once, `heldBytes` of records
 * at a time, and the second one for each such part, then once more for what came or changed, which
 * is known by two bytes a point. What went is told in the order of the first file, then what came
 * or changed in that of the second. Throws an InputError, maybe behind lines, where a file is broken
 * or the second one changes meanwhile, and the reason of the signal.
 */
export async function diff(
  first: string,
  second: string,
  options: DiffOptions,
  heldBytes: number = HELD_BYTES,
): Promise<0 | 1> {
  await openTimeZone(options.timeZone);
  const differences = new Differences(options);
  /** Points of the first file to look for in the second one; their records are in `memory`. */
  const left = new Map<number, StoredRecord>();
  const memory = Buffer.allocUnsafeSlow(heldBytes + MAX_RECORD_BYTES);
  let held = 0;
  const hold = ({ id, record }: Entry): void => {
    memory.set(record, held);
    left.set(id, memory.subarray(held, held + record.length));
    held += record.length;
  };
  const marks = new Marks();
  let same = 0;
  const bar = startBar(first, options);
  let now: LoadReport | undefined;
  const readSecond = async (visit: Visit, isWanted?: IsWanted): Promise<LoadReport> => {
    const report = await readRecords(second, options, startBar(second, options), visit, isWanted);
    if (now === undefined || now.digest === report.digest) return report;
    throw new InputError(`${second}: it changed while it was read`);
  };
  const compare = async (): Promise<LoadReport> => {
    // one bar at a time; the next block of the first file shows its bar again
    bar.stop();
    now = await readSecond(
      ({ id, record }, row) => {
        const was = left.get(id);
        if (was === undefined) return;
        left.delete(id);
        const mark = markOf(was, record);
        marks.set(row, mark);
        if (mark === FOUND) same++;
        else differences.extend(was);
      },
      ({ id }) => id.some((one) => left.has(one)),
    );
    for (const [id, record] of left) await differences.add('went', { id, record });
    left.clear();
    held = 0;
    return now;
  };
  const then = await readRecords(first, options, bar, (point) => {
    return held < heldBytes ? hold(point) : compare().then(() => hold(point));
  });
  const { format, points } = await compare();
  if (same < points) {
    await readSecond((point, row) => {
      const mark = marks.get(row);
      if (mark === FOUND) return;
      const fields = RECORD_KEYS.filter((_, at) => mark & (2 << at));
      return differences.add(mark === 0 ? 'came' : 'changed', point, fields);
    });
  }
  if (options.format === 'summary') {
    await differences.summarize([
      `${first}: ${then.format}, ${counted(then.points, 'point')}`,
      `${second}: ${format}, ${counted(points, 'point')}`,
    ]);
  }
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
  async add(change: Change, { id, record }: Entry, fields: readonly string[] = []): Promise<void> {
    this.counts[change]++;
    for (const field of fields) this.#fields.set(field, (this.#fields.get(field) ?? 0) + 1);
    if (this.#few[change].length < FEW) this.#few[change].push(id);
    this.extend(record);
    if (this.#options.format !== 'ndjson') return;
    const named = change === 'changed' ? `,"fields":${JSON.stringify(fields)}` : '';
    await this.#write(`{"change":"${change}","id":${id}${named},"record":${rendered(record)}}`);
  }

  extend(record: StoredRecord): void {
    const { lon, lat } = valuesOf(record);
    this.#lon.widen([Number(lon)]);
    this.#lat.widen([Number(lat)]);
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

interface Entry {
  readonly id: number;
  readonly record: StoredRecord;
}

/** Two bytes for each point of the second file, 0 at first. */
class Marks {
  readonly #pages: Uint16Array[] = [];

  get(row: number): number {
    return this.#pages[row >>> 16]?.[row & 0xffff] ?? 0;
  }

  set(row: number, mark: number): void {
    this.#pages[row >>> 16] ??= new Uint16Array(2 ** 16);
    this.#pages[row >>> 16]![row & 0xffff] = mark;
  }
}

function markOf(was: StoredRecord, record: StoredRecord): number {
  if (Buffer.compare(was, record) === 0) return FOUND;
  const [old, own] = [valuesOf(was), valuesOf(record)];
  // a native file may have the same values in other bytes
  const bits = RECORD_KEYS.map((key, at) => (isDeepStrictEqual(old[key], own[key]) ? 0 : 2 << at));
  return bits.reduce((all, bit) => all | bit, FOUND);
}

function valuesOf(record: StoredRecord): Readonly<Partial<Record<RecordKey, unknown>>> {
  return JSON.parse(rendered(record).toString());
}

type Visit = (point: Entry, row: number) => void | Promise<void>;

function startBar(path: string, options: DiffOptions): ProgressBar {
  return startProgress(`Reading ${basename(path)}`, options);
}

async function readRecords(
  path: string,
  options: DiffOptions,
  bar: ProgressBar,
  visit: Visit,
  isWanted?: IsWanted,
): Promise<LoadReport> {
  const reader = await openSnapshot(path, { ...options, onProgress: bar.update });
  let first = 0;
  try {
    for await (const block of reader.blocks(isWanted)) {
      const { count, id, length, records } = block;
      let end = 0;
      for (let i = 0; i < count && records.length > 0; i++) {
        const record = records.subarray(end, end + length[i]!);
        end += length[i]!;
        const visited = visit({ id: id[i]!, record }, first + i);
        if (visited !== undefined) await visited;
      }
      first += count;
      // garbage would be 50 MB more
      release(records, ...COLUMN_NAMES.map((name) => block[name]));
      // some readers never wait: signals and the bar have their turn here
      await setImmediate();
    }
    return reader.report();
  } finally {
    bar.stop();
    reader.close();
  }
}
