import { pino } from 'pino';
import { Random } from '../../src/cli/generate/random.js';
import type { AcceptedPoint } from '../../src/index/delta.js';
import { mergeDataset } from '../../src/index/merge-dataset.js';
import { fetchPage, hashRecords } from '../../src/index/record-page.js';
import type { Filters } from '../../src/model/query.js';
import { standingOf } from '../../src/posts/adopt.js';
import { Cell, type Generation } from '../../src/reload/current.js';
import { Deltas } from '../../src/reload/deltas.js';
import { assertQuestion } from '../support/compare.js';
import { acceptedMatches, acceptedOf, append, generationOf, idsOf } from '../support/engine.js';
import { type Note, scatterNotes } from '../support/notes.js';
import { Oracle } from '../support/oracle.js';
import { COMBINATIONS, randomQuestion } from '../support/queries.js';
import { assert, IS_SOAK, pluck, test } from '../support/uvu.js';

/** Ids of moved posts: above those of all notes. */
const FRESH = 10_000_000;
/** Questions whose validators are followed from step to step. */
const FOLLOWED = 12;

/** A post as the plain list has it. */
interface Waiting {
  readonly sequence: number;
  readonly note: Note;
}

/**
 * Posts notes, merges them, and loads snapshots that contain some of them, that know of some by
 * their watermark, or that have other records under their ids. Asserts after each step that
 * `questions` random questions are answered as of a plain list, and that validators are good as
 * long as their answers are the same. Returns how often each thing was done.
 */
async function acceptUnderQuestions(
  seed: number,
  steps: number,
  questions: number,
): Promise<{ merges: number; reloads: number; moved: number; renewed: number }> {
  const random = new Random(seed, 'point');
  const pool = scatterNotes(seed, 400 + 10 * steps);
  let base = pool.splice(0, 400);
  let waiting: Waiting[] = [];
  let sequence = 0;
  let asked = 0;
  let fresh = FRESH;
  const done = { reloads: 0, moved: 0 };
  const current = new Cell();
  const deltas = new Deltas({
    current,
    logger: pino({ level: 'silent' }),
    capacity: { rows: 50, bytes: 1_000_000 },
    merge: async (...task) => mergeDataset(...task),
  });
  const validators = new Validators(seed, pool);

  async function post(most: number): Promise<void> {
    const posted = pool.splice(0, 1 + random.int(most));
    const added = posted.map((note) => ({ sequence: ++sequence, note }));
    waiting.push(...added);
    await append(deltas, added.map(postOf));
  }

  async function reload(): Promise<void> {
    done.reloads++;
    const contained = waiting.slice(0, random.int(waiting.length + 1));
    const hasWatermark = random.chance(0.5);
    const watermark = hasWatermark ? (contained.at(-1)?.sequence ?? 0) : 0;
    // upstream may have deleted what it knows of
    const isKept = (): boolean => random.chance(0.97);
    const known = contained.map(({ note }) => note);
    base = [...base, ...(hasWatermark ? known.filter(isKept) : known)].filter((note) => {
      return known.includes(note) || isKept();
    });
    const others = waiting.slice(contained.length);
    if (others.length > 0 && random.chance(0.5)) {
      const { note } = random.pick(others);
      base.push({ ...note, created: note.created + 1, modified: note.created + 1 });
    }
    const [digest, loadedAt] = [`${seed} ${done.reloads}`, done.reloads];
    const generation = await generationOf(base, { digest, loadedAt });
    const { retired, moved } = compare(waiting, base, watermark);
    assert.equal([...retired], pluck(contained, 'sequence'), 'the contained ones retire');
    done.moved += moved.size;
    const move = ({ sequence, note }: Waiting) => ({ sequence, note: { ...note, id: ++fresh } });
    waiting = waiting
      .filter(({ sequence }) => !retired.has(sequence))
      .map((one) => (moved.has(one.sequence) ? move(one) : one));
    const beginning = deltas.begin(generation.parts);
    for (const one of waiting) await beginning.add(postOf(one));
    const { done: serving } = await deltas.serve(beginning, sequence);
    await post(3);
    await serving;
  }

  function check(step: number): void {
    const all = [...base, ...pluck(waiting, 'note')];
    const { generation } = current;
    const { engine, delta } = generation;
    const oracle = new Oracle(all);
    for (let i = 0; i < questions; i++, asked++) {
      const question = randomQuestion(seed, asked, all);
      const about = `seed ${seed}, step ${step}, question ${asked}`;
      assertQuestion({ engine, oracle, delta }, question, about);
    }
    validators.check(generation, `seed ${seed}, step ${step}`);
  }

  await reload();
  for (let step = 0; step < steps; step++) {
    if (random.chance(0.06)) await reload();
    else await post(5);
    check(step);
    // a merge that is under way goes on between two steps
    if (random.chance(0.5)) await new Promise(setImmediate);
  }
  assert.is(deltas.state.mergesFailed, 0);
  return { ...done, merges: deltas.state.merges, renewed: validators.renewed };
}

/** Sequences of the posts that a snapshot contains, and of those whose ids it has for others. */
function compare(
  waiting: readonly Waiting[],
  base: readonly Note[],
  watermark: number,
): { retired: ReadonlySet<number>; moved: ReadonlySet<number> } {
  const created = new Map(base.map(({ id, created: micros }) => [id, micros]));
  const retired = new Set<number>();
  const moved = new Set<number>();
  for (const { sequence, note } of waiting) {
    const post = { sequence, id: note.id, createdAt: note.created };
    const standing = standingOf(post, (id) => created.get(id), watermark);
    if (standing !== 'kept') (standing === 'retired' ? retired : moved).add(sequence);
  }
  return { retired, moved };
}

function postOf({ sequence, note }: Waiting): AcceptedPoint {
  return acceptedOf([note], sequence)[0]!;
}

/** The answer that an ETag stood for when it was met first, and the name of the state then. */
type Met = Readonly<Record<'text' | 'state', string>>;

/** Remembers the answers to some questions by their ETags, which are called names here. */
class Validators {
  readonly #followed: readonly { filters: Filters; answers: Map<string, Met> }[];
  /** Number of names that an answer of an earlier state had as well. */
  renewed = 0;

  constructor(seed: number, notes: readonly Note[]) {
    this.#followed = Array.from({ length: FOLLOWED }, (_, i) => {
      const { filters } = randomQuestion(seed, COMBINATIONS + i, notes);
      return { filters, answers: new Map<string, Met>() };
    });
  }

  /**
   * Asserts that names are equal exactly where answers are, and that equal states have equal
   * answers.
   */
  check({ engine, delta, tag, state: stateNow }: Generation, label: string): void {
    const { name: state, length } = stateNow();
    for (const { filters, answers } of this.#followed) {
      const additions = acceptedMatches(delta!, length, filters);
      const ids: number[] = [];
      const hashes: object[] = [];
      for (let page = 1; ; page++) {
        const query = { filters, ordering: 'id', page, pageSize: 1000 } as const;
        const answer = engine.run(query, {}, additions);
        if (answer === undefined) break;
        ids.push(...idsOf(engine.dataset, answer.rows, answer.length, delta));
        hashes.push(hashRecords(fetchPage(engine.dataset, delta, answer.rows, answer.length)));
      }
      const text = ids.join();
      const name = `${tag} ${JSON.stringify(hashes)}`;
      const about = `${label}: ${name} of ${JSON.stringify(filters)}`;
      const met = answers.get(name) ?? { text, state };
      assert.is(met.text, text, `${about}: another answer of this name`);
      answers.set(name, met);
      for (const [other, before] of answers) {
        const isSame = other.startsWith(tag) && before.text === text;
        assert.is(other === name, isSame, `${about}, which was ${other} before`);
        if (before.state === state) assert.is(before.text, text, `${about}: of the same state`);
      }
      if (met.state !== state) this.renewed++;
    }
  }
}

if (!IS_SOAK) {
  test('while points are posted, merged and reloaded, answers are those of a plain list', async () => {
    const done = await acceptUnderQuestions(1, 80, 8);
    assert.ok(done.merges > 1 && done.reloads > 3 && done.moved > 0, JSON.stringify(done));
    assert.ok(done.renewed > 10, JSON.stringify(done));
  });
}

for (const seed of IS_SOAK ? [1, 2, 3, 4, 5, 6] : []) {
  test(`seed ${seed}: 8,000 answers while points are posted, merged and reloaded`, async () => {
    const done = await acceptUnderQuestions(seed, 400, 20);
    assert.ok(done.merges > 10 && done.reloads > 10 && done.moved > 3, JSON.stringify(done));
  });
}

test.run();
