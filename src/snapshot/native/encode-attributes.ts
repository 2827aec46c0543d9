import { IMAGE, PROCESSED } from '../../model/point-flags.js';
import type { AttributeColumns } from '../block.js';
import { RecordAttributes } from '../record-attributes.js';
import { TextNumbers } from '../text-numbers.js';

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
    // the last one was read first
    for (let tag = 2 * record.tagCount - 2; tag >= 0; tag -= 2) {
      tags.push(tagTexts.add(bytes, tagBounds[tag]!, tagBounds[tag + 1]!));
    }
  }
  return {
    ...columns,
    statusTexts: textsOf(statuses),
    tagTexts: textsOf(tagTexts),
    tags: Uint32Array.from(tags),
  };
}

function textsOf(numbers: TextNumbers): string[] {
  return numbers.keys().map((key) => Buffer.from(key, 'latin1').toString());
}
