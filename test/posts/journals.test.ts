import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UTC } from '../../src/model/time-zone.js';
import {
  IdTaken,
  type Journal,
  NotStored,
  type OwnJournal,
  type Post,
  type SharedJournal,
} from '../../src/posts/journal.js';
import type { Media } from '../../src/posts/media/media.js';
import { parseDatabaseAddress } from '../../src/posts/postgres-address.js';
import { openDatabaseJournal } from '../../src/posts/postgres-journal.js';
import { createPostClock, PostStats, PostWriter } from '../../src/posts/posts.js';
import { openJournal } from '../../src/posts/sqlite-journal.js';
import { Cell } from '../../src/reload/current.js';
import { Deltas } from '../../src/reload/deltas.js';
import { type Database, POSTGRES, startDatabase } from '../support/database.js';
import { makeMediaFolder, PNG } from '../support/images.js';
import {
  appendAll,
  keyOf,
  moveOf,
  newPost,
  numbers,
  numbersIn,
  postsIn,
} from '../support/journals.js';
import { failure, makeFolder, pluck, refusal, test } from '../support/uvu.js';
import { gate, until } from '../support/wait.js';

/** A kind of journal: makes a new place for one, and opens the journal that is there. */
interface Kind {
  readonly name: string;
  place(): Promise<string>;
  open(place: string): Promise<OwnJournal | SharedJournal>;
}

let database: Database;

const FILE: Kind = {
  name: 'a file',
  place: async () => join(makeFolder(), 'points.journal'),
  open: (place) => openJournal(place),
};
const DATABASE: Kind = {
  name: 'a database',
  async place() {
    await database.empty();
    return database.address();
  },
  open: (place) => openDatabaseJournal(parseDatabaseAddress(place)),
};

/** Has the journal report posts, as the adoption of a first snapshot does. */
async function begin(journal: OwnJournal | SharedJournal): Promise<void> {
  await journal.giveIdsFrom(1);
  if ('exclusively' in journal)
    await journal.exclusively(async () => ({ done: Promise.resolve() }));
}

for (const kind of [FILE, DATABASE]) {
  const test = suite(`journal in ${kind.name}`);
  const open: Journal[] = [];
  const opened = async (place: string): Promise<OwnJournal | SharedJournal> => {
    const journal = await kind.open(place);
    open.push(journal);
    await begin(journal);
    return journal;
  };
  /** A second instance with the same journal, where there can be one. */
  const neighbour = (one: OwnJournal | SharedJournal, place: string) =>
    kind === FILE ? one : opened(place);
  const skips = kind === DATABASE && POSTGRES === undefined;
  if (skips) console.log('skipped: the journal in a database: there is no PostgreSQL here');
  const check = (name: string, run: (place: string) => Promise<void>): void => {
    if (!skips) test(name, async () => run(await kind.place()));
  };
  if (kind === DATABASE && !skips) {
    test.before(async () => {
      database = await startDatabase();
      // a setting that an operator made for other programs makes no difference
      await database.run("ALTER ROLE ALL SET default_transaction_isolation = 'serializable'");
    });
  }
  test.after.each(async () => {
    for (const journal of open.splice(0)) await journal.close();
  });

  check('numbers posts from 1, and keeps them', async (place) => {
    const first = await opened(place);
    assert.is(first.state.lastSequence, 0);
    assert.match(first.state.name, /^[0-9a-f]{16}$/);
    assert.equal(await appendAll(first, [newPost(7), newPost(8), newPost(3)]), [1, 2, 3]);
    assert.is(first.state.posts, 3);
    await first.close();
    const again = await opened(place);
    assert.is(await numbersIn(again), '1:7 2:8 3:3');
    assert.equal(await again.read(1, 1), [{ ...newPost(8), sequence: 2 }]);
    const { name, lastSequence, lastTime, keptAfter, problem } = again.state;
    const told = [name, lastSequence, lastTime, keptAfter, problem];
    assert.equal(told, [first.state.name, 3, newPost(8).createdAt, 0, undefined]);
  });

  check('tells of posts in their order before their calls end', async (place) => {
    const journal = await opened(place);
    const told: Post[] = [];
    journal.changed((posts) => void told.push(...posts));
    for (let round = 0; round < 3; round++) {
      const calls = Array.from({ length: 40 }, (_, i) => newPost(100 * round + i + 1));
      const ends = calls.map((post) =>
        journal.append(post).then((sequence) => {
          assert.ok(told.some((one) => one.sequence === sequence && one.id === post.id));
        }),
      );
      await Promise.all(ends);
    }
    assert.is(numbers(told), await numbersIn(journal));
    assert.is(told.length, 120);
  });

  check('fails the post whose key was used, and no other of its batch', async (place) => {
    const journal = await opened(place);
    await journal.append(newPost(1, '- a'));
    const [one, two, three] = await appendAll(journal, [
      newPost(2, '- b'),
      newPost(3, '- a'),
      newPost(4, '- b'),
    ]);
    assert.is(one, 2);
    assert.equal(two, { ...newPost(1, '- a'), sequence: 1 });
    assert.is((three as Post).id, 2);
    assert.is((three as Post).sequence, 2);
    assert.is(await numbersIn(journal), '1:1 2:2');
    assert.equal((await journal.find('- b'))?.key, keyOf('- b'));
    assert.is(await journal.find('- c'), undefined);
  });

  check('gives posts other ids under sequences of their own, keys included', async (place) => {
    const journal = await opened(place);
    await appendAll(journal, [newPost(1, '- a'), newPost(2), newPost(3)]);
    const moves = [1, 3, 99].map((sequence) => moveOf(sequence, sequence, sequence + 10));
    const moved = await journal.move(moves);
    assert.is(numbers(moved), '4:11 5:13');
    assert.is(JSON.parse(moved[0]!.record).id, 11);
    const [again] = await journal.move([moveOf(4, 1, 21)]);
    assert.is(again!.movedFrom, 1);
    await journal.close();
    const next = await opened(place);
    assert.is(await numbersIn(next), '2:2 5:13 6:21');
    assert.is((await next.find('- a'))?.sequence, 6);
  });

  check('gives each id once, and none below what a snapshot has', async (place) => {
    const journal = await opened(place);
    const ids = await Promise.all(Array.from({ length: 200 }, () => journal.takeId()));
    assert.is(new Set(ids).size, 200);
    await journal.giveIdsFrom(5_000);
    assert.ok((await journal.takeId()) >= 5_000);
    await journal.giveIdsFrom(10);
    assert.ok((await journal.takeId()) > 5_000);
  });

  check('reads all posts in their order, or some behind a sequence', async (place) => {
    const journal = await opened(place);
    // more than are read at a time
    const ids = Array.from({ length: 4_200 }, (_, i) => i + 1);
    await Promise.all(ids.map((id) => journal.append(newPost(id))));
    const posts = await postsIn(journal);
    assert.equal(pluck(posts, 'sequence'), ids);
    assert.is(new Set(pluck(posts, 'id')).size, ids.length);
    assert.equal(await journal.read(3, 3), posts.slice(3, 6));
    assert.equal(await journal.read(4_198, 10), posts.slice(4_198));
    assert.equal(await journal.read(4_200, 10), []);
  });

  check('takes nothing once it is closed', async (place) => {
    const journal = await opened(place);
    await journal.close();
    assert.instance(await failure(journal.append(newPost(1))), NotStored);
    if (kind === FILE) rmSync(place);
    assert.is(await numbersIn(await opened(place)), '');
  });

  check('refuses an id that a new snapshot uses', async (place) => {
    const one = await opened(place);
    const other = await neighbour(one, place);
    const id = await one.takeId();
    await other.giveIdsFrom(1_000);
    const refused = await failure(one.append(newPost(id)));
    assert.instance(refused, IdTaken);
    assert.match(String(refused), /: a new snapshot may use the id/);
    assert.is(await numbersIn(one), '');
    assert.ok((await one.takeId()) >= 1_000, 'nor is the rest of its block given');
  });

  check('leaves no image of a post whose id a snapshot uses meanwhile', async (place) => {
    const one = await opened(place);
    const other = await neighbour(one, place);
    const { media, upload, files } = makeMediaFolder();
    const visible = new Deltas({ current: new Cell(), logger: pino({ level: 'silent' }) });
    const late: Pick<Media, 'accept' | 'store' | 'remove' | 'discard'> = {
      accept: (...given) => media.accept(...given),
      async store(...given) {
        const address = await media.store(...given);
        // a slow store holds nobody up: neither a snapshot nor posts wait for it
        await visible.exclusively(() => other.giveIdsFrom(1_000));
        return address;
      },
      remove: (address) => media.remove(address),
      discard: (image) => media.discard(image),
    };
    const stats = new PostStats();
    const writer = new PostWriter({
      ...{ journal: one, media: late as Media, stats, clock: createPostClock(0, UTC) },
      visible,
    });
    const draft = { lat: '10.00000000', lon: '20.00000000', comment: '', tags: undefined };
    const image = await upload(PNG);
    const post = { draft, user: undefined, address: '', key: undefined, upload: image };
    const { kind } = await writer.post(post);
    await media.discard(image);
    assert.is(kind, 'unavailable');
    assert.equal(files(), ['.incoming', 'map_data_points']);
  });

  if (kind === FILE || skips) {
    test.run();
    continue;
  }

  check('makes one point of a key that two instances get at once', async (place) => {
    const [one, other] = [await opened(place), await opened(place)];
    for (let round = 0; round < 20; round++) {
      const [a, b] = await Promise.all([
        one.append(newPost(2 * round + 1, `- ${round}`)),
        other.append(newPost(2 * round + 2, `- ${round}`)),
      ]);
      const sequences = [a, b].map((it) => (typeof it === 'number' ? it : it.sequence));
      assert.equal(sequences, [round + 1, round + 1]);
      assert.is(typeof a === 'number', typeof b !== 'number');
    }
  });

  check('tells every instance of the posts of all, in one order', async (place) => {
    const journals = [await opened(place), await opened(place), await opened(place)];
    const told = journals.map((journal) => {
      const posts: Post[] = [];
      journal.changed((some) => void posts.push(...some));
      return posts;
    });
    const calls = Array.from({ length: 150 }, (_, i) => journals[i % 3]!.append(newPost(i + 1)));
    await Promise.all(calls);
    // once each instance has a later post of its own, it has been told of all earlier ones
    for (const [i, journal] of journals.entries()) await journal.append(newPost(1_000 + i));
    await journals[0]!.append(newPost(2_000));
    const [first, ...others] = told.map((posts) => numbers(posts.slice(0, 152)));
    assert.is(first!.split(' ').length, 152);
    for (const other of others) assert.is(other, first);
  });

  check('goes on after posts were removed that it had not read', async (place) => {
    const other = await opened(place);
    let renewals = 0;
    const renew = (): void => void renewals++;
    const one = await openDatabaseJournal(parseDatabaseAddress(place), { renew, timeoutMs: 100 });
    open.push(one);
    await begin(one);
    const [hears, goesOn] = [gate(), gate()];
    const told: Post[] = [];
    one.changed(async (posts) => {
      told.push(...posts);
      hears.open();
      await goesOn.opened;
    });
    for (let id = 1; id <= 3; id++) await other.append(newPost(id));
    await hears.opened;
    for (let id = 4; id <= 6; id++) await other.append(newPost(id));
    await database.run(`DELETE FROM waypost.posts WHERE sequence <= 5;
      UPDATE waypost.state SET pruned = 5`);
    goesOn.open();
    await until('what is served has to be built anew', () => renewals > 0);
    const why = /: posts were removed before they were read, and what is served is not built anew/;
    await until('it says so', () => why.test(one.state.problem ?? ''));
    await begin(one);
    assert.equal([one.state.removed, one.state.problem, one.state.lag?.losses], [5, undefined, 0]);
    await other.append(newPost(7));
    assert.is(await one.append(newPost(8)), 8);
    assert.match(numbers(told), /^1:1.* 7:7 8:8$/);
    assert.not.match(numbers(told), /[456]:/);
  });

  check('finds the post of a key once the instance was told of it', async (place) => {
    const [one, other] = [await opened(place), await opened(place)];
    const [hears, goesOn] = [gate(), gate()];
    other.changed(async () => {
      hears.open();
      await goesOn.opened;
    });
    await one.append(newPost(1, '- a'));
    let isFound = false;
    const found = other.find('- a').then((post) => {
      isFound = true;
      return post;
    });
    await hears.opened;
    assert.is(await other.find('- b'), undefined);
    assert.not(isFound);
    goesOn.open();
    assert.is((await found)?.sequence, 1);
  });

  check('gives each id once, wherever snapshots end', async (place) => {
    const journals = [await opened(place), await opened(place)];
    const ids: number[] = [];
    for (let round = 0; round < 20; round++) {
      for (const journal of journals) {
        for (let i = 0; i < 7; i++) ids.push(await journal.takeId());
        await journal.giveIdsFrom(ids.at(-1)! + 1);
      }
    }
    assert.is(new Set(ids).size, ids.length);
  });

  check('says which tables it cannot use', async (place) => {
    await (await opened(place)).close();
    await database.run('UPDATE waypost.state SET version = 99');
    assert.match(await refusal(kind.open(place)), /tables have version 99.*start a newer one/);
    await database.run('DELETE FROM waypost.state');
    assert.match(await refusal(kind.open(place)), /waypost\.state has no row/);
    const wrong = place.replace(/:[^:@]+@/, ':wrong@');
    const told = await refusal(kind.open(wrong));
    assert.match(told, /password authentication failed/);
    assert.not.match(told, /wrong|not%20to/);
    assert.match(await refusal(kind.open(`${place}x`)), /database "\w+" does not exist/);
    await database.run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    assert.match(await refusal(kind.open(database.address('latin'))), /its encoding is LATIN1/);
  });

  test.run();
}

test.run();
