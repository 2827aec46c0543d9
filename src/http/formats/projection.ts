import {
  copyMembers,
  createMemberPlaces,
  findMembers,
  memberOf,
} from '../../dataset/record-members.js';
import type { RecordKey } from '../../model/point.js';
import type { Page } from './format.js';

const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Writes a record with some of its keys to `target` from `at` on; returns where it ends. */
export type WriteRecord = (record: Uint8Array, target: Uint8Array, at: number) => number;

/** Makes what writes records with these keys and no others; none is longer than it was. */
export function createProjection(keys: readonly RecordKey[]): WriteRecord {
  const places = createMemberPlaces();
  const members = keys.map(memberOf);
  return (record, target, at) => {
    findMembers(record, places);
    target[at] = BRACE_OPEN;
    const end = copyMembers(record, places, members, target, at + 1);
    target[end] = BRACE_CLOSE;
    return end + 1;
  };
}

/** The records of a page with the keys that were asked for; they stay valid. */
export function shownRecords({ records, keys }: Page): readonly Uint8Array[] {
  const all = Array.from({ length: records.count }, (_, index) => records.at(index));
  if (keys === undefined) return all;
  const project = createProjection(keys);
  return all.map((record) => {
    const projected = Buffer.allocUnsafe(record.length);
    return projected.subarray(0, project(record, projected, 0));
  });
}
