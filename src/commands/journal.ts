import { closeSync, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { InputError } from '../errors.js';
import type { Post } from '../live/journal/journal.js';
import { openJournal } from '../live/journal/open.js';
import { type Reading, readJournal, requireUndamaged } from '../live/journal/reading.js';
import { type Numbers, repairJournal } from '../live/journal/repair.js';
import { renderPoint } from '../model/point.js';
import { quote } from '../model/quote.js';
import { formatUtc } from '../model/timestamp.js';
import { counted, whole } from '../progress.js';
import { writeAtomically } from '../snapshot/atomic-file.js';
import { unreadable } from '../snapshot/unreadable.js';
import { writeAll } from '../snapshot/write-all.js';
import { STANDARD } from './standard-streams.js';

const PIECE = 1 << 20;

/**
 * The posts of a journal that surely stay in it, whatever happens to the process that writes it.
 */
export interface Settled {
  readonly posts: readonly Post[];
  /** Every post up to this sequence is among them or retired; 0 where there was none yet. */
  readonly through: number;
  readonly nextId: number;
  /** Watermarks up to this one are those of another journal. */
  readonly foreign: number;
}

/** Reads a journal that may be in use. Throws an InputError when it is damaged or there is none. */
export async function readSettled(path: string): Promise<Settled> {
  const reading = await readFile(path);
  requireUndamaged(path, reading);
  const { posts, settled, nextSequence, nextId, foreign } = reading;
  return {
    nextId,
    foreign,
    posts: posts.slice(0, settled),
    through: (posts[settled]?.sequence ?? nextSequence) - 1,
  };
}

/** A line for each post that waits, and one for all of them. Throws as {@link readSettled}. */
export async function* listJournal(path: string): AsyncGenerator<string, void, undefined> {
  const { posts, through } = await readSettled(path);
  for (const { sequence, point, movedFrom } of posts) {
    const { id, lat, lon, createdAt, comment } = point;
    const moved = movedFrom === undefined ? '' : `, posted as ${movedFrom}`;
    yield `${sequence}  id ${id}${moved}  ${createdAt.text}  ${lat},${lon}  ${quote(comment)}`;
  }
  yield `${path}: ${counted(posts.length, 'post')} waiting, of sequences up to ${through}`;
}

/**
 * Checks every line and prints what was found. Returns the exit code: 0, or 1 for a bad journal.
 */
export async function verifyJournal(path: string, print: (line: string) => void): Promise<0 | 1> {
  const reading = await readFile(path);
  const { posts, keys, nextSequence, nextId, lastTime, settled, end, size } = reading;
  print(`${path}: journal, ${counted(posts.length, 'post')} waiting`);
  print(`  next sequence  ${nextSequence}`);
  print(`  next id        ${nextId}`);
  if (lastTime > 0) print(`  latest         ${formatUtc(lastTime)}`);
  print(`  kept keys      ${whole(keys.length)}`);
  print(`  bytes          ${whole(size)}`);
  if (reading.isDamaged) {
    const { problems, problemCount } = reading;
    print(`not good, for ${counted(problemCount, 'line')}:`);
    for (const problem of problems) print(`  ${problem}`);
    if (problemCount > problems.length)
      print(`  and ${whole(problemCount - problems.length)} more`);
    return 1;
  }
  const unmarked = posts.length - settled;
  if (unmarked > 0) {
    print(
      `  ${counted(unmarked, 'post')} behind the last mark: being written, or the last before a stop`,
    );
  }
  if (end < size) {
    print(
      `  ${whole(size - end)} bytes at the end of a write that was not acknowledged, or is under way`,
    );
  }
  print('good');
  return 0;
}

export interface ExportOptions {
  /** Posts up to this sequence are left out. */
  readonly after: number;
  readonly stdout: Writable;
  /** Takes the line that says what was written. */
  readonly print: (line: string) => void;
}

/**
 * Writes what waits as NDJSON: records as the service answers them, with their `sequence`. A file
 * appears whole or not at all. Throws an InputError when the journal is damaged or the file cannot
 * be written.
 */
export async function exportJournal(
  path: string,
  output: string,
  { after, stdout, print }: ExportOptions,
): Promise<void> {
  const { posts, through } = await readSettled(path);
  const chosen = posts.filter(({ sequence }) => sequence > after);
  if (output === STANDARD) {
    for (const text of pieces(chosen)) {
      if (!stdout.write(text)) await new Promise((resolve) => stdout.once('drain', resolve));
    }
  } else {
    await writeAtomically(output, (fd) => {
      for (const text of pieces(chosen)) writeAll(fd, Buffer.from(text));
    });
  }
  const to = output === STANDARD ? 'standard output' : output;
  print(
    `${to}: ${counted(chosen.length, 'post')}; a snapshot that has them: pack --journal-through ${through}`,
  );
}

/** Forgets posts up to a sequence. Throws an InputError when the journal is owned or damaged. */
export async function retireJournal(path: string, through: number): Promise<string> {
  const journal = await openExisting(path);
  try {
    const { lastSequence, waiting } = journal.state;
    if (through > lastSequence) {
      throw new InputError(
        `${path}: the last sequence is ${lastSequence}, got --through ${through}: name one that was given`,
      );
    }
    await journal.retire(({ sequence }) => sequence <= through);
    const left = journal.state.waiting;
    return `${path}: ${counted(waiting - left, 'post')} retired, ${whole(left)} waiting`;
  } finally {
    await journal.close();
  }
}

/** Repairs a journal and says what was done. Throws as {@link repairJournal}. */
export async function repair(path: string, numbers: Numbers): Promise<string[]> {
  const repaired = await repairJournal(path, numbers);
  if (repaired === undefined) return [`${path}: nothing to repair`];
  const { posts, lines, setAside, nextSequence, nextId } = repaired;
  return [
    `${path}: ${counted(posts, 'post')} waiting; new ones begin with sequence ${nextSequence} and id ${nextId}`,
    `${setAside}: ${counted(lines, 'damaged line')}, which may hold points that were acknowledged`,
  ];
}

async function openExisting(path: string): Promise<Awaited<ReturnType<typeof openJournal>>> {
  closeSync(openFile(path));
  return openJournal(path);
}

async function readFile(path: string): Promise<Reading> {
  const fd = openFile(path);
  try {
    return await readJournal(fd);
  } finally {
    closeSync(fd);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The lines of an export, some at a time. */
function* pieces(posts: readonly Post[]): Generator<string, void, undefined> {
  let text = '';
  for (const { sequence, point } of posts) {
    text += `${renderPoint(point).slice(0, -1)},"sequence":${sequence}}\n`;
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  yield text;
}
