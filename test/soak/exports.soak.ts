import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { memoryOf } from '../../bench/support/proc.js';
import { openAnswer, postKeyed } from '../support/client.js';
import { startLoad } from '../support/load.js';
import { markedLines, replaceFile } from '../support/marked.js';
import { metricsOf } from '../support/operating.js';
import { startService } from '../support/service.js';
import { ascending, assert, makeFolder, test, until } from '../support/uvu.js';

const POINTS = 300_000;
/** Readers that begin with each snapshot; the third reload ends those of the first. */
const READERS = [80, 60, 60] as const;
/** Between two chunks of a slow reader, of 64 kB at most: none is done before the reloads are. */
const PAUSE_MS = 1_000;
const POST_MS = 10;
/** What the process may have more than before: 110 MB were found, and 225 MB while all read. */
const MORE_BYTES = 150e6;

const path = join(makeFolder(), 'points.ndjson');
/** Each snapshot has a point less, so that posts keep their ids. */
const sizeOf = (mark: number): number => POINTS - mark;
const put = (mark: number): void => replaceFile(path, markedLines(mark, sizeOf(mark)));

put(0);
const flags = ['--snapshot', path, '--settle', '0ms', '--workers', '2', '--answer-timeout', '5m'];
const service = await startService(flags);
/** Sequences of the accepted posts by their ids. */
const accepted = new Map<number, number>();
let isSlow = false;

/** What an export had, and whether it was whole. */
type Outcome = Awaited<ReturnType<typeof readExport>>;

async function readExport(answer: IncomingMessage) {
  const state = String(answer.headers['waypost-snapshot']);
  // ones at the ids of its snapshot's points, and how many points it had
  const found = { state, marks: new Set<number>(), seen: new Uint8Array(POINTS + 2), count: 0 };
  const posts: number[] = [];
  let rest = '';
  try {
    for await (const chunk of answer.setEncoding('latin1')) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        // {"id":1,"comment":"mark 0"}
        const comma = line.indexOf(',');
        const id = Number(line.slice('{"id":'.length, comma));
        const comment = line.slice(comma + ',"comment":"'.length, -2);
        if (comment.startsWith('post')) {
          posts.push(id);
          continue;
        }
        found.marks.add(Number(comment.slice('mark '.length)));
        found.seen[id] = 1;
        found.count++;
      }
      if (isSlow) await delay(PAUSE_MS);
    }
  } catch (error) {
    assert.is((error as NodeJS.ErrnoException).code, 'ECONNRESET');
    return { ...found, posts, isWhole: false };
  }
  return { ...found, posts, isWhole: true };
}

/** Asserts that a whole export is one snapshot and the posts up to its state's sequence. */
function checkState({ state, marks, seen, count, posts }: Outcome): void {
  assert.is(marks.size, 1, `${state}: ${[...marks]}`);
  const size = sizeOf([...marks][0]!);
  assert.equal([count, seen.indexOf(0, 1)], [size, size + 1], state);
  const last = Number.parseInt(state.replaceAll('"', '').split('.')[2]!, 36);
  const expected = [...accepted].filter(([, sequence]) => sequence <= last).map(([id]) => id);
  assert.is(expected.length, last, state);
  assert.equal(ascending(posts), ascending(expected), state);
}

async function becomes(name: string, wanted: number, outcome?: string): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    // while the main thread is busy, the other one tells nothing of reloads
    const { samples } = await metricsOf(service);
    const found = samples.filter((one) => one.name === name && one.labels['outcome'] === outcome);
    return found.length === 1 && found[0]!.value === wanted;
  };
  await until(`${name} ${wanted}`, isThere, 120_000);
}

function begin(readers: number): Promise<IncomingMessage[]> {
  const target = '/export/points.ndjson?fields=id,comment';
  return Promise.all(Array.from({ length: readers }, () => openAnswer(service.port, target)));
}

async function post(signal: AbortSignal): Promise<void> {
  const underWay: Promise<void>[] = [];
  for (let i = 0; !signal.aborted; i++) {
    const posting = postKeyed(service, `post-${i}`).then(({ status, headers, text, json }) => {
      assert.is(status, 201, text);
      accepted.set(json<{ id: number }>().id, Number(headers['waypost-sequence']));
    });
    underWay.push(posting);
    await delay(POST_MS);
  }
  await Promise.all(underWay);
}

test('200 slow readers have one state each beside posts and reloads, and leave nothing', async () => {
  const warm = await Promise.all((await begin(20)).map(readExport));
  for (const outcome of warm) checkState(outcome);
  const before = memoryOf(service.pid)!.rss;
  const order = { port: service.port, connections: 2, fresh: false, marked: false, pauseMs: 20 };
  const load = await startLoad({ ...order, patienceMs: 60_000 });
  const stop = new AbortController();
  const posting = post(stop.signal);
  isSlow = true;
  const reading: Promise<Outcome>[] = [];
  for (const [i, readers] of READERS.entries()) {
    const answers = await begin(readers);
    for (const { statusCode } of answers) assert.is(statusCode, 200);
    reading.push(...answers.map(readExport));
    await becomes('waypost_exports', reading.length);
    put(i + 1);
    await becomes('waypost_reloads_total', i + 2, 'loaded');
  }
  isSlow = false;
  const outcomes = await Promise.all(reading);
  stop.abort();
  await posting;
  const { failures, failed, refused, dropped } = await load.end();
  assert.equal([failures, failed, refused, dropped], [[], 0, 0, 0]);

  const whole = outcomes.filter(({ isWhole }) => isWhole);
  for (const outcome of whole) checkState(outcome);
  assert.equal(outcomes.slice(0, READERS[0]).filter(({ isWhole }) => isWhole).length, 0);
  assert.equal(whole.length, READERS[1] + READERS[2]);
  assert.equal(new Set(whole.map(({ marks }) => [...marks][0])).size, 2);
  await becomes('waypost_exports_total', whole.length + warm.length, 'whole');
  await becomes('waypost_exports_total', outcomes.length - whole.length, 'ended');
  await becomes('waypost_exports', 0);
  await becomes('waypost_exports_old_generations', 0);
  await until('memory returns', () => memoryOf(service.pid)!.rss < before + MORE_BYTES);
});

test.run();
