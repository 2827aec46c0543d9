import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import type { Notification } from '../../model/notification.js';
import { type Point, readPoint } from '../../model/point.js';
import { IMAGE, PROCESSED } from '../../model/units.js';
import { attributesOf } from '../attributes.js';
import { type AttributeColumns, columnsOf, type PointBlock } from '../block.js';
import { IdSet } from '../id-set.js';
import { rendered, type StoredRecord } from '../record-layout.js';

/**
 * Checks what readers of a native file take on trust: that records are valid, written as the API
 * renders them and agree with their columns, and that no id occurs twice.
 */
export class NativeAudit {
  readonly #ids = new IdSet();
  readonly #onReason: (reason: string) => void;
  #points = 0;

  /** `onReason` is told what is wrong with each record or notification. */
  constructor(onReason: (reason: string) => void) {
    this.#onReason = onReason;
  }

  check(block: PointBlock): void {
    const { records } = block;
    const found = attributesOf(records, block.length);
    // blocks that were read from rows have no columns of attributes
    const { attributes = found } = block;
    const isSame = isDeepStrictEqual(attributes, found);
    // texts may also stand in another order
    const said = isSame ? undefined : textsOf(attributes);
    const own = isSame ? undefined : textsOf(found);
    let start = 0;
    for (let i = 0; i < block.count; i++) {
      const record = records.subarray(start, start + block.length[i]!);
      start += record.length;
      this.#points += 1;
      let reason = auditRecord(record, block, i);
      if (said?.[i] !== own?.[i]) reason ??= `says ${own?.[i]}, its columns ${said?.[i]}`;
      if (reason !== undefined) this.#fail(block.id[i]!, reason);
      else if (!this.#ids.add(block.id[i]!)) this.#fail(block.id[i]!, 'the id occurs twice');
    }
  }

  checkNotifications(notifications: readonly Notification[]): void {
    const ids = new IdSet();
    for (const { id } of notifications) {
      if (!ids.add(id)) this.#onReason(`notification ${id}: the id occurs twice`);
    }
  }

  #fail(id: number, reason: string): void {
    this.#onReason(`record ${this.#points} (id ${id}): ${reason}`);
  }
}

/** The attributes of each point as JSON. */
function textsOf(columns: AttributeColumns): string[] {
  const { statusTexts, status, flags, createdBy, tagTexts, tagCounts, tags } = columns;
  let tag = 0;
  return Array.from(flags, (flag, i) => {
    const own = tags.subarray(tag, tag + tagCounts[i]!);
    tag += own.length;
    return JSON.stringify({
      status: statusTexts[status[i]!],
      is_processed: (flag & PROCESSED) !== 0,
      image: (flag & IMAGE) !== 0,
      created_by: createdBy[i],
      tags: Array.from(own, (number) => tagTexts[number]),
    });
  });
}

function auditRecord(record: StoredRecord, block: PointBlock, i: number): string | undefined {
  const json = rendered(record);
  // decoding would replace what is no UTF-8
  if (!isUtf8(json)) return 'is no UTF-8';
  let unknownKey: string | undefined;
  let point: Point;
  try {
    const result = readPoint(JSON.parse(json.toString()), (key) => {
      unknownKey ??= key;
    });
    if (!('id' in result)) {
      return result.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
    }
    point = result;
  } catch (error) {
    return `is no JSON: ${(error as Error).message}`;
  }
  if (unknownKey !== undefined) return `has a key that records may not have: ${unknownKey}`;
  const own = columnsOf(point);
  if (!own.record.store().equals(record)) return 'is not written the way the API renders it';
  for (const name of ['id', 'lat', 'lon', 'createdAt', 'modifiedAt'] as const) {
    const [said, column] = [own[name], block[name][i]];
    if (said !== column) return `says ${name.replace('At', '_at')} ${said}, its column ${column}`;
  }
  return undefined;
}
