import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { END_MARK, EXIT, type FileOrder, type FileResult } from './protocol.js';

export interface Outcome extends FileResult {
  readonly seconds: number;
  readonly output: string;
}

/** A process that runs test files one by one. */
interface FileProcess {
  run(path: string, limits: Limits): Promise<Outcome>;
  /** Resolves once the process has exited. */
  end(): Promise<void>;
}

/** A process with more bytes of memory is replaced: what files leave there must not add up. */
const MAX_MEMORY = 700e6;
const EXIT_MS = 20_000;

/** Milliseconds of patience with a file. */
export interface Limits {
  /** From one thing that it prints, as after each test, to the next. */
  readonly silenceMs: number;
  /** From its last test until all that it opened is closed. */
  readonly closingMs: number;
}

interface Task {
  readonly path: string;
  /** Whether it may not share its process with others. */
  readonly needsOwnProcess: boolean;
  done(outcome: Outcome): void;
}

/**
 * Runs files from the front of the queue, `width` at once. Files share processes, so that the start
 * of Node and what they import is paid once. A process is replaced after a file that failed, and
 * when it has grown.
 */
export async function runAll(tasks: readonly Task[], width: number, limits: Limits): Promise<void> {
  const queue = [...tasks];
  const work = async (): Promise<void> => {
    let shared: FileProcess | undefined;
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      const used = task.needsOwnProcess ? startProcess() : (shared ?? startProcess());
      const outcome = await used.run(task.path, limits);
      const isReusable = outcome.failed === 0 && outcome.memory < MAX_MEMORY;
      if (task.needsOwnProcess) await used.end();
      else if (isReusable) shared = used;
      else {
        await used.end();
        shared = undefined;
      }
      task.done(outcome);
    }
    await shared?.end();
  };
  await Promise.all(Array.from({ length: width }, work));
}

const NOTHING: FileResult = { passed: 0, failed: 1, skipped: 0, cpuSeconds: 0, memory: Infinity };

function startProcess(): FileProcess {
  const child = fork(join(import.meta.dirname, 'file-process.js'), { silent: true });
  const closed = once(child, 'close').then(() => {});
  return {
    async run(path, { silenceMs, closingMs }) {
      const started = performance.now();
      let isLate = false;
      let killing: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        isLate = true;
        // a process that still hears this order exits by itself, and ends the services it started
        child.send(EXIT);
        killing = setTimeout(() => child.kill('SIGKILL'), EXIT_MS);
      }, silenceMs);
      const outputs = [child.stdout!, child.stderr!].map((stream) =>
        readOutput(stream, closed, () => isLate || timer.refresh()),
      );
      child.send({ path, closingMs } satisfies FileOrder);
      const result = await Promise.race([resultOf(child), closed]);
      const printed = (await Promise.all(outputs)).join('');
      clearTimeout(timer);
      clearTimeout(killing);
      const seconds = (performance.now() - started) / 1000;
      if (result !== undefined) return { ...result, seconds, output: printed };
      const why = isLate ? `ended after ${silenceMs / 1000} s without a word` : describeEnd(child);
      return { ...NOTHING, seconds, output: `${printed}\n${why}` };
    },
    async end() {
      // the process exits by itself, so that its files' exit handlers run
      if (child.connected) child.send(EXIT);
      const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function resultOf(child: ChildProcess): Promise<FileResult> {
  const [result] = await once(child, 'message');
  return result as FileResult;
}

/** What a stream brings before `END_MARK` or the end of the process; `heard` is called for each chunk. */
function readOutput(stream: Readable, closed: Promise<void>, heard: () => void): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    const settle = (): void => {
      stream.off('data', take);
      // without a listener the stream would pause, and its process never emit `close`
      stream.resume();
      resolve(text.replace(END_MARK, ''));
    };
    const take = (chunk: Buffer): void => {
      heard();
      text += chunk;
      if (text.endsWith(END_MARK)) settle();
    };
    stream.on('data', take);
    void closed.then(settle);
  });
}

function describeEnd({ exitCode, signalCode }: ChildProcess): string {
  return `the process ended in the middle: ${signalCode ?? `exit code ${exitCode}`}`;
}
