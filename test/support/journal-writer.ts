import { writeSync } from 'node:fs';
import { openJournal } from '../../src/live/journal/open.js';
import { newPost, soonAfter } from './journals.js';

/**
 * Appends posts to the journal that is named as fast as it can, a few at once, retires and moves
 * some all the while, and prints each promise as soon as it is given: `a sequence id key` for a
 * post, `r sequence` before it may be retired, `m sequence id` before it may be moved.
 */
const journal = await openJournal(process.argv[2]!, { now: soonAfter });
let nextId = journal.state.nextId;
// process.stdout would hold lines back when the reader is slow
const print = (line: string): void => void writeSync(1, `${line}\n`);
print('begun');

async function append(): Promise<never> {
  for (;;) {
    const posts = [newPost(nextId, `- ${nextId}`), newPost(nextId + 1)];
    nextId += 2;
    for (const { sequence, point, key } of await journal.append(posts)) {
      print(`a ${sequence} ${point.id} ${key === undefined ? '' : key.name}`);
    }
  }
}

async function retire(): Promise<never> {
  for (;;) {
    const waiting = [...journal.replay()].slice(0, -20);
    const gone = new Set(waiting.filter(({ sequence }) => sequence % 3 !== 0));
    const moves = new Map(
      waiting
        .filter(({ sequence }) => sequence % 9 === 0)
        .map(({ sequence }) => [sequence, nextId++]),
    );
    for (const { sequence } of gone) print(`r ${sequence}`);
    for (const [sequence, id] of moves) print(`m ${sequence} ${id}`);
    const sequences = new Set(Array.from(gone, ({ sequence }) => sequence));
    await journal.retire(({ sequence }) => sequences.has(sequence), moves);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

await Promise.all([append(), append(), append(), retire()]);
