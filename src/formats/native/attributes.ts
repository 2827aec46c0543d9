import type { InputError } from '../../model/quote.js';
import { IMAGE, isWhole, PROCESSED } from '../../model/units.js';
import type { AttributeColumns } from '../block.js';
import { RecordAttributes } from '../record-layout.js';
import { TextNumbers } from '../text-numbers.js';
import { binOf, type Fail, type Fields } from './decode.js';

/** Checks the attributes of a block of `count` points and copies them to where they are aligned. */
export function readAttributes(fields: Fields, count: number, fail: Fail): AttributeColumns {
  const attributes: AttributeColumns = {
    statusTexts: textsOf(fields, 'statuses', fail),
    status: new Uint32Array(bytesOf(fields, 'status', 4 * count, fail)),
    flags: new Uint8Array(bytesOf(fields, 'flags', count, fail)),
    createdBy: new Float64Array(bytesOf(fields, 'created_by', 8 * count, fail)),
    tagTexts: textsOf(fields, 'tag_texts', fail),
    tagCounts: new Uint32Array(bytesOf(fields, 'tag_counts', 4 * count, fail)),
    tags: new Uint32Array(bytesOf(fields, 'tags', undefined, fail)),
  };
  checkAttributes(attributes, count, fail);
  return attributes;
}

function checkAttributes(
  { statusTexts, status, flags, createdBy, tagTexts, tagCounts, tags }: AttributeColumns,
  count: number,
  fail: Fail,
): void {
  const wrong = (i: number, what: string): InputError => fail(`point ${i} of the block: ${what}`);
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (status[i]! >= statusTexts.length) {
      throw wrong(i, `status must be below ${statusTexts.length}, got ${status[i]}`);
    }
    if (flags[i]! > PROCESSED + IMAGE) throw wrong(i, `flags must be 0 to 3, got ${flags[i]}`);
    if (!isWhole(createdBy[i], -1)) {
      throw wrong(i, `created_by must be -1 or a whole number, got ${createdBy[i]}`);
    }
    total += tagCounts[i]!;
  }
  if (total !== tags.length) {
    throw fail(`the column tag_counts adds up to ${total}, and tags has ${tags.length}`);
  }
  for (const tag of tags) {
    if (tag >= tagTexts.length) throw fail(`tags must be below ${tagTexts.length}, got ${tag}`);
  }
}

function textsOf(fields: Fields, key: string, fail: Fail): readonly string[] {
  const texts: unknown = fields[key];
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw fail(`${key} must be a list of texts`);
}

/** A copy of the bytes of a column, whose size is a multiple of 4 where none is given. */
function bytesOf(fields: Fields, key: string, size: number | undefined, fail: Fail): ArrayBuffer {
  const bytes = binOf(fields, key);
  if (bytes === undefined) throw fail(`${key} must be a bin`);
  if (size === undefined ? bytes.length % 4 !== 0 : bytes.length !== size) {
    throw fail(`${key} must be a bin of ${size ?? 'a multiple of 4'} bytes`);
  }
  return Uint8Array.from(bytes).buffer;
}

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
    statusTexts: textsByNumber(statuses),
    tagTexts: textsByNumber(tagTexts),
    tags: Uint32Array.from(tags),
  };
}

function textsByNumber(numbers: TextNumbers): string[] {
  return numbers.keys().map((key) => Buffer.from(key, 'latin1').toString());
}
