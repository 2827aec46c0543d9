import { IMAGE, PROCESSED } from '../model/units.js';
import type { AttributeColumns } from './block.js';
import { RecordAttributes } from './record-layout.js';

/** Reads the attributes out of records, which stand end to end and have these lengths. */
export function attributesOf(records: Uint8Array, length: Uint32Array): AttributeColumns {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const count = length.length;
  const [statuses, tagTexts] = [new TextNumbers(), new TextNumbers()];
  const columns = {
    status: new Uint32Array(count),
    flags: new Uint8Array(count),
    createdBy: new Float64Array(count).fill(-1),
    tagCounts: new Uint32Array(count),
  };
  const tags: number[] = [];
  const record = new RecordAttributes();
  let start = 0;
  for (let i = 0; i < count; i++) {
    const end = start + length[i]!;
    const isRead = record.read(bytes, start, end);
    start = end;
    const { statusFrom, statusTo, tagBounds } = record;
    columns.status[i] = statuses.add(bytes, isRead ? statusFrom : 0, isRead ? statusTo : 0);
    if (!isRead) continue;
    columns.flags[i] = (record.isProcessed ? PROCESSED : 0) | (record.hasImage ? IMAGE : 0);
    columns.createdBy[i] = record.createdBy;
    columns.tagCounts[i] = record.tagCount;
    for (let tag = 0; tag < 2 * record.tagCount; tag += 2) {
      tags.push(tagTexts.add(bytes, tagBounds[tag]!, tagBounds[tag + 1]!));
    }
  }
  return {
    ...columns,
    statusTexts: statuses.keys().map(utf8),
    tagTexts: tagTexts.keys().map(utf8),
    tags: Uint32Array.from(tags),
  };
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

/** What `toString` calls, and takes three times as long. */
type Sliced = Buffer & { latin1Slice(from: number, to: number): string };

/** Numbers texts by their bytes. */
export class TextNumbers {
  /** By the texts, whose characters stand for bytes. */
  readonly #numbers = new Map<string, number>();

  /** The number of the text in bytes `from` to `to - 1`, in the order in which texts are met. */
  add(source: Buffer, from: number, to: number): number {
    const key = (source as Sliced).latin1Slice(from, to);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(key, number);
    }
    return number;
  }

  addText(text: string): number {
    const bytes = Buffer.from(text);
    return this.add(bytes, 0, bytes.length);
  }

  /** The texts by number; the characters of each stand for its bytes. */
  keys(): string[] {
    return [...this.#numbers.keys()];
  }
}
