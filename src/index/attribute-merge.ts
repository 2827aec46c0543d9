import { TextNumbers } from '../formats/text-numbers.js';
import { lowerBound, type Row } from './order.js';
import {
  type Attributes,
  buildFlagPostings,
  copyBits,
  countBelow,
  eachRow,
  Filling,
  numbersOf,
  type Postings,
  rowsWith,
  sortTexts,
  type TextAttribute,
  wordsOf,
} from './postings.js';
import { sharedArray } from './shared-array.js';

/** The rows of one attribute, and the number that each of its values has among those of both. */
interface Numbered {
  readonly postings: Postings;
  readonly numbers: Uint32Array;
}

/**
 * The attributes of the rows below `kept` of a dataset and, behind them, of `count` added rows.
 * Lists and bitmaps of the rows that stay are copied as they are.
 */
export function appendAttributes(
  former: Attributes,
  kept: Row,
  added: Attributes,
  count: number,
): Attributes {
  const append = (one: Numbered, other: Numbered, values: number): Postings =>
    appendPostings(one, kept, other, kept + count, values);
  const appendTexts = (one: TextAttribute, other: TextAttribute): TextAttribute => {
    const all = new TextNumbers();
    const both = [one, other].map((attribute) => numbersOf(attribute.texts, all));
    const { texts, places } = sortTexts(all.keys());
    const [first, second] = both.map((numbers) => numbers.map((number) => places[number]!));
    return {
      texts,
      postings: append(
        { postings: one.postings, numbers: first! },
        { postings: other.postings, numbers: second! },
        texts.ends.length,
      ),
    };
  };
  const appendFlags = (one: Postings, other: Postings): Postings => {
    const bits = sharedArray(Int32Array, wordsOf(kept + count));
    copyBits(bits, one.bitmaps[1]!, kept);
    eachRow(other, 0, (row, value) => {
      bits[(kept + row) >>> 5]! |= value << ((kept + row) & 31);
    });
    return buildFlagPostings(kept + count, bits);
  };
  const all = new Set([...former.createdBy.users, ...added.createdBy.users]);
  const users = sharedArray(Float64Array, all.size);
  users.set([...all]);
  users.sort();
  const ofUsers = ({ createdBy }: Attributes): Numbered => ({
    postings: createdBy.postings,
    numbers: Uint32Array.from(createdBy.users, (user) => lowerBound(users, user)),
  });
  return {
    status: appendTexts(former.status, added.status),
    tags: appendTexts(former.tags, added.tags),
    createdBy: { users, postings: append(ofUsers(former), ofUsers(added), users.length) },
    isProcessed: appendFlags(former.isProcessed, added.isProcessed),
    hasImage: appendFlags(former.hasImage, added.hasImage),
  };
}

/** The rows below `kept` of one attribute, then all rows of another one, as rows from `kept` on. */
function appendPostings(
  { postings: former, numbers: formerNumbers }: Numbered,
  kept: Row,
  { postings: added, numbers: addedNumbers }: Numbered,
  total: number,
  values: number,
): Postings {
  const counts = sharedArray(Uint32Array, values);
  for (const [value, number] of formerNumbers.entries()) {
    counts[number] = countBelow(rowsWith(former, value), kept);
  }
  for (const [value, number] of addedNumbers.entries()) counts[number]! += added.counts[value]!;
  const filling = new Filling(total, counts);
  for (const [value, number] of formerNumbers.entries()) {
    filling.putAll(number, rowsWith(former, value), kept);
  }
  eachRow(added, 0, (row, value) => filling.put(addedNumbers[value]!, kept + row));
  return filling.postings;
}
