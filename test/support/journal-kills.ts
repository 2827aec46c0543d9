import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as assert from 'uvu/assert';
import { Random } from '../../src/generate/random.js';
import { openJournal } from '../../src/live/journal/open.js';
import { soonAfter, withJournal } from './journals.js';

const WRITER = new URL('./journal-writer.js', import.meta.url).pathname;
/** Promises that a process gives before it is killed, at most. */
const MOST_PROMISES = 100;

/** What processes that were killed had promised. */
interface Promised {
  /** The ids that each sequence may have. */
  readonly ids: Map<number, Set<number>>;
  readonly mayBeGone: Set<number>;
  readonly keys: Set<string>;
}

/** Kills a process that works on a journal at a random moment, again and again. */
export async function killWriters(seed: number, times: number): Promise<void> {
  const random = new Random(seed, 'point');
  await withJournal(async (path) => {
    const promised: Promised = { ids: new Map(), mayBeGone: new Set(), keys: new Set() };
    for (let kill = 0; kill < times; kill++) {
      const child = spawn(process.execPath, [WRITER, path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      const wanted = random.int(MOST_PROMISES);
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
        // it goes on meanwhile, to wherever it gets
        if (said.split('\na ').length > wanted) child.kill('SIGKILL');
      });
      await once(child, 'close');
      note(said, promised);
      await holds(path, promised, `seed ${seed}, kill ${kill}`);
    }
    assert.ok(promised.ids.size > times * 5, `${promised.ids.size} posts`);
  });
}

function note(said: string, { ids, mayBeGone, keys }: Promised): void {
  const lines = said.split('\n').slice(0, -1);
  // a post may be moved before its caller hears of it
  const appended = lines.filter((line) => line.startsWith('a '));
  for (const line of [...appended, ...lines.filter((line) => !line.startsWith('a '))]) {
    const [what, sequence, id, ...key] = line.split(' ');
    if (what === 'r') mayBeGone.add(Number(sequence));
    // a post may have been written and not acknowledged
    if (what === 'm') ids.get(Number(sequence))?.add(Number(id));
    if (what !== 'a') continue;
    assert.not.ok(ids.has(Number(sequence)), `${sequence} was given twice`);
    ids.set(Number(sequence), new Set([Number(id)]));
    if (key.length > 1) keys.add(key.join(' '));
  }
}

async function holds(path: string, promised: Promised, about: string): Promise<void> {
  const journal = await openJournal(path, { now: soonAfter });
  const posts = new Map(
    Array.from(journal.replay(), ({ sequence, point }) => [sequence, point.id]),
  );
  assert.is(posts.size, journal.state.waiting, about);
  assert.is(new Set(posts.values()).size, posts.size, `${about}: an id twice`);
  for (const [sequence, ids] of promised.ids) {
    const found = posts.get(sequence);
    if (found === undefined)
      assert.ok(promised.mayBeGone.has(sequence), `${about}: ${sequence} is gone`);
    else assert.ok(ids.has(found), `${about}: ${sequence} has id ${found}`);
  }
  const keys = new Set(Array.from(journal.keys(), ({ name }) => name));
  for (const key of promised.keys) assert.ok(keys.has(key), `${about}: key ${key}`);
  await journal.close();
}
