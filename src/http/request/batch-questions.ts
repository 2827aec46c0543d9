import { show } from '../../model/quote.js';
import { isObject } from '../../model/units.js';
import { type Kinds, parseJson } from './body.js';
import { HttpError, ParameterErrors, type ParameterProblem } from './http-error.js';
import { POINTS_PARAMETERS } from './list-parameters.js';
import { joinList, type Pair } from './query-string.js';

/** Questions of a batch, and values in all of them together. */
const MAX_QUESTIONS = 1_000;
const MAX_VALUES = 100_000;

export type BatchKind = 'json' | 'lines';

export const BATCH_KINDS: Kinds<BatchKind> = {
  'application/json': 'json',
  'application/x-ndjson': 'lines',
};

const NEWLINE = 0x0a;
/** There is one form of answers. */
const KNOWN = new Set(POINTS_PARAMETERS.map(({ name }) => name).filter((one) => one !== 'format'));

/** Reads one question of a batch. Throws an HttpError where it is none. */
export type ReadQuestion = () => readonly Pair[];

/** Splits a batch into its questions, read one by one: of lines each fails by itself. */
export function parseBatch(bytes: Buffer, kind: BatchKind): ReadQuestion[] {
  if (kind === 'lines') {
    return few(linesOf(bytes)).map((line) => () => pairsOf(parseJson(line, MAX_VALUES)));
  }
  const batch = parseJson(bytes, MAX_VALUES);
  if (!Array.isArray(batch)) throw none(show(batch), 'an array of objects');
  return few(batch).map((question) => () => pairsOf(question));
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, from);
    const line = bytes.subarray(from, end < 0 ? bytes.length : end);
    from += line.length + 1;
    if (line.some((byte) => byte > 0x20)) lines.push(line);
  }
  return lines;
}

function few<T>(questions: readonly T[]): readonly T[] {
  if (questions.length <= MAX_QUESTIONS) return questions;
  const detail = `Too many questions. Expected at most ${MAX_QUESTIONS}.`;
  throw new HttpError(413, { detail });
}

/** The parameters of the list that an object names; null is as good as no parameter. */
function pairsOf(question: unknown): Pair[] {
  if (!isObject(question)) {
    throw none(show(question), 'an object whose keys are parameters of the list');
  }
  const pairs: Pair[] = [];
  const problems: ParameterProblem[] = [];
  for (const [name, value] of Object.entries(question)) {
    if (value === null || !KNOWN.has(name)) continue;
    if (isPlain(value)) pairs.push({ name, value: String(value) });
    else if (Array.isArray(value) && value.every(isPlain)) {
      pairs.push({ name, value: joinList(value.map(String)) });
    } else {
      const text = `Got ${show(value)}. Expected a text, a number, true, false or a list of these.`;
      problems.push({ parameter: name, text });
    }
  }
  if (problems.length > 0) throw new ParameterErrors(problems);
  return pairs;
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function none(got: string, expected: string): HttpError {
  return new HttpError(400, { detail: `Got ${got}. Expected ${expected}.` });
}
