import * as assert from 'uvu/assert';
import type { Post } from '../../src/live/journal/journal.js';
import type { Reading } from '../../src/live/journal/reading.js';
import { numbers, readBytes } from './journals.js';

/**
 * Checks what is found in a damaged copy of a journal that holds `posts`: it is refused, or it has
 * the first of them and says what is wrong behind. Returns which it was.
 */
export function survives(
  reading: Reading,
  posts: readonly Post[],
  about: string,
): 'refused' | 'shortened' | 'whole' {
  assert.is(reading.problems.length > 0, reading.problemCount > 0, about);
  if (reading.isDamaged) {
    assert.ok(reading.problemCount > 0, about);
    return 'refused';
  }
  const found = reading.posts;
  assert.is(numbers(found), numbers(posts.slice(0, found.length)), about);
  assert.equal(found, posts.slice(0, found.length), about);
  if (found.length === posts.length) return 'whole';
  assert.ok(reading.end <= reading.size, about);
  return 'shortened';
}

const NEWLINE = 10;

/** Where each line of a file begins, and where the file ends. */
export function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** Checks what is found in the sample journal when it is cut to each of these sizes. */
export async function survivesCuts(
  path: string,
  { bytes, posts }: { readonly bytes: Buffer; readonly posts: readonly Post[] },
  sizes: Iterable<number>,
): Promise<void> {
  const starts = lineStarts(bytes);
  // a head, two kept posts, a kept key, the head again
  const kept = starts[5]!;
  for (const size of sizes) {
    if (size < 0 || size > bytes.length) continue;
    const reading = await readBytes(path, bytes.subarray(0, size));
    const outcome = survives(reading, posts, `cut at ${size}`);
    assert.is(outcome === 'refused', size < kept, `cut at ${size}`);
    if (outcome === 'refused') continue;
    // all whole lines are there, and the rest is told
    const end = starts.findLast((start) => start <= size)!;
    assert.equal([reading.end, reading.problemCount], [end, end < size ? 1 : 0], `cut at ${size}`);
  }
}
