import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { commandOf, processTree } from '../../../bench/support/proc.js';
import {
  createDecoder,
  createImageTurns,
  type DecodeJob,
} from '../../../src/posts/media/decoder.js';
import { MediaUnavailable } from '../../../src/posts/media/folder.js';
import { JPEG } from '../../support/images.js';
import { assert, failure, makeFolder, test, until } from '../../support/uvu.js';

// own process: it looks for the process of a decoder among the children of this one

const home = makeFolder();

const SMALL = join(home, 'small.jpg');
/** Takes a second or so. */
const SLOW = join(home, 'slow.png');
writeFileSync(SMALL, JPEG);
const blank = { width: 6_000, height: 4_000, channels: 3, background: 'grey' } as const;
await sharp({ create: blank }).png({ compressionLevel: 1 }).toFile(SLOW);

const PATIENCE_MS = 60_000;
const DECODER = import.meta.resolve('../../../src/posts/media/decoder.js');
let jobs = 0;

function job(input: string): DecodeJob {
  return { input, output: join(home, `${jobs++}.image`), maxPixels: 1e9 };
}

function decoders(): number[] {
  return processTree(process.pid).filter((pid) => commandOf(pid).includes('decode-process.js'));
}

/** The process that decodes now, once it computes: it has lowered all its threads by then. */
async function decoderAtWork(): Promise<number> {
  await until('it lowers itself', () => {
    const [pid] = decoders();
    return pid !== undefined && nicenessOf(pid).length > 6 && nicenessOf(pid).every((n) => n >= 10);
  });
  return decoders()[0]!;
}

function nicenessOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
  } catch {
    // one has ended since the folder was read
    return [];
  }
}

test('an image that takes too long is given up, and the next one is taken', async () => {
  const { decode } = createDecoder(10);
  const late = await decode(job(SLOW), 'a');
  assert.equal(late, { kind: 'refused', text: 'The image took more than 0.01 seconds to decode.' });
  assert.equal(decoders(), []);
});

test('a process knows no secret, steps back, and takes the image with it that it had begun', async () => {
  const secrets = ['WAYPOST_ADMIN_TOKEN', 'PGPASSWORD', 'SECRET_ACCESS_KEY'];
  for (const name of secrets) process.env[name] = 'secret-of-the-service';
  const { decode } = createDecoder(PATIENCE_MS);
  const dying = decode(job(SLOW), 'a');
  const pid = await decoderAtWork().finally(() => {
    for (const name of secrets) delete process.env[name];
  });
  assert.not(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('secret-of-the-service'));
  assert.is(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(), '1000');
  process.kill(pid, 'SIGKILL');
  const next = decode(job(SMALL), 'a');
  assert.equal(await dying, { kind: 'refused', text: 'The image could not be decoded.' });
  assert.is((await next).kind, 'image');
  assert.equal(decoders(), []);
});

test('a process ends with the one that started it, and leaves no image', async () => {
  const { input, output } = job(SLOW);
  const script = `
    import { createDecoder } from ${JSON.stringify(DECODER)};
    const job = ${JSON.stringify({ input, output, maxPixels: 1e9 })};
    await createDecoder(${PATIENCE_MS}).decode(job, 'a');`;
  const service = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  const pid = await decoderAtWork();
  const gone = once(service, 'close');
  service.kill('SIGKILL');
  await gone;
  await until('the decoder is gone', () => commandOf(pid) === '');
  assert.not(existsSync(output));
});

test('a process that cannot start is the fault of the system', async () => {
  const { decode } = createDecoder(PATIENCE_MS);
  process.env['NODE_OPTIONS'] = '--no-such-option';
  try {
    const error = await failure(decode(job(SMALL), 'a'));
    assert.instance(error, MediaUnavailable);
    assert.is(error.message, 'the process that decodes images ended with 9');
  } finally {
    delete process.env['NODE_OPTIONS'];
  }
});

test('more images than may wait are turned away', async () => {
  const limits = { maxWaiting: 2, maxOfAddress: 2, maxWaitMs: PATIENCE_MS };
  const { decode } = createDecoder(PATIENCE_MS, limits);
  const taken = [0, 1, 2].map(() => decode(job(SMALL), 'a'));
  const error = await failure(decode(job(SMALL), 'a'));
  assert.instance(error, MediaUnavailable);
  assert.is(error.message, 'too many images are waiting');
  for (const one of taken) assert.is((await one).kind, 'image');
  assert.is((await decode(job(SMALL), 'a')).kind, 'image');
});

test('what cannot be read or written is the fault of the system', async () => {
  const { decode } = createDecoder(PATIENCE_MS);
  const gone = await failure(decode(job(join(home, 'nope.jpg')), 'a'));
  assert.instance(gone, MediaUnavailable);
  assert.is(gone.message, 'images cannot be decoded (ENOENT)');
  const nowhere = { ...job(SMALL), output: join(home, 'nope/x.image') };
  const lost = await failure(decode(nowhere, 'a'));
  assert.is(lost.message, 'images cannot be decoded (ENOENT)');
});

const LIMITS = { maxWaiting: 6, maxOfAddress: 2, maxWaitMs: 60_000 };

/** Collects what becomes of waiting images, in the order in which it happens. */
function follow(limits = LIMITS) {
  const inTurn = createImageTurns(limits);
  const events: string[] = [];
  let end = (): void => {};
  const come = (name: string): Promise<unknown> =>
    inTurn(name[0]!, () => {
      events.push(`${name} begins`);
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    }).catch(({ message }: Error) => events.push(`${name}: ${message}`));
  const told = async (): Promise<string[]> => {
    await new Promise(setImmediate);
    return events.splice(0);
  };
  /** Lets all begin that wait: their time is counted by timers. */
  const finish = async (): Promise<void> => {
    do end();
    while ((await told()).length > 0);
  };
  return { come, told, end: () => end(), finish };
}

test('addresses take turns, however many of one came first', async () => {
  const { come, told, end } = follow();
  for (const name of ['a0', 'a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void come(name);
  assert.equal(await told(), ['a0 begins']);
  const order: string[] = [];
  for (let i = 0; i < 6; i++) {
    end();
    order.push(...(await told()));
  }
  assert.equal(order.join(), 'a1 begins,b1 begins,c1 begins,a2 begins,b2 begins,a3 begins');
  end();
  void come('d1');
  assert.equal(await told(), ['d1 begins']);
});

test('an address alone may have all room, and gives it up to others', async () => {
  const { come, told, end, finish } = follow();
  for (let i = 0; i < 8; i++) void come(`a${i}`);
  assert.equal(await told(), ['a0 begins', 'a7: too many images are waiting']);
  void come('b1');
  assert.equal(await told(), ['a6: images of other addresses are waiting']);
  // while another waits, its share is all that it gets
  void come('a8');
  assert.equal(await told(), ['a8: too many images of this address are waiting']);
  for (const name of ['b2', 'b3']) void come(name);
  assert.equal(await told(), [
    'b3: too many images of this address are waiting',
    'a5: images of other addresses are waiting',
  ]);
  end();
  assert.equal(await told(), ['a1 begins']);
  end();
  assert.equal(await told(), ['b1 begins']);
  await finish();
});

test('work that fails ends its turn, too', async () => {
  const inTurn = createImageTurns(LIMITS);
  const failing = inTurn('a', () => Promise.reject(new Error('no')));
  const next = inTurn('b', async () => 'done');
  assert.is((await failure(failing)).message, 'no');
  assert.is(await next, 'done');
});

test('who waits too long is told so, and is in nobody’s way', async () => {
  const { come, told, end } = follow({ ...LIMITS, maxWaitMs: 20 });
  void come('a0');
  await come('b1');
  assert.equal(await told(), ['a0 begins', 'b1: images wait too long']);
  end();
  void come('c1');
  assert.equal(await told(), ['c1 begins']);
});

test.run();
