import {
  type Draft,
  MAX_TAG_LENGTH,
  type Refused,
  readPoint,
  renderPoint,
  toEightDigits,
} from '../../model/point.js';
import { sentence } from '../../model/quote.js';
import { isObject, type JsonObject } from '../../model/units.js';
import type { Body, FormFields } from './body.js';

/** Bytes of a posted record as JSON: with these a page of 100 stays below the 8 MiB of a page. */
export const MAX_POSTED_BYTES: number = 64 * 1024;
const MAX_TAGS = 100;
/** Messages of one field; of those beyond only the number is told. */
const MAX_MESSAGES = 10;
/** Bytes that the service may add: 15 digits of the id, 30 for a user, 110 for an image. */
const ROOM_FOR_THE_REST = 160;
/** In the place of the time that the service sets. */
const STAND_IN_TIME = '2000-01-01T00:00:00.000000+00:00';

/** Reads a new point: types here, the rules of all records by the validator of snapshots. */
export function readDraft(body: Body): Draft | Refused {
  if (body.kind === 'json' && !isObject(body.value)) {
    const given = `Invalid data. Expected a dictionary, but got ${typeName(body.value)}.`;
    const text = body.value === null ? NO_DATA : given;
    return { problems: { non_field_errors: [text] } };
  }
  const fields = body.kind === 'json' ? (body.value as JsonObject) : formFields(body.fields);
  const problems: Record<string, string[]> = {};
  const fail: Fail = (field, text) => {
    problems[field] ??= [];
    problems[field].push(text);
    return undefined;
  };
  const lat = readDegrees('lat', fields, fail);
  const lon = readDegrees('lon', fields, fail);
  const comment = Object.hasOwn(fields, 'comment')
    ? readString('comment', fields['comment'], fail)
    : '';
  const tags = readTags(fields['tags'], fail);
  // images come by multipart only; elsewhere the field may at most be empty
  if ((fields['image'] ?? '') !== '') fail('image', NO_FILE);

  const record = { id: 1, created_at: STAND_IN_TIME, lat, lon, comment, tags };
  const point = readPoint(record, () => {});
  if (!('id' in point)) {
    for (const { field, reason } of point) {
      if (problems[field] === undefined) fail(field, sentence(reason));
    }
  }
  if (!('id' in point) || Object.keys(problems).length > 0) {
    const few = Object.entries(problems).map(([field, texts]) => [field, fewOf(texts)]);
    return { problems: Object.fromEntries(few) };
  }
  const most = MAX_POSTED_BYTES - ROOM_FOR_THE_REST;
  const bytes = Buffer.byteLength(renderPoint(point));
  if (bytes > most) {
    const text = `The record would have ${bytes} bytes as JSON, and at most ${most} are allowed.`;
    const ofComment = Buffer.byteLength(JSON.stringify(point.comment));
    const field = ofComment * 2 > bytes ? 'comment' : 'tags';
    return { problems: { [field]: [text] } };
  }
  return { lat: point.lat, lon: point.lon, comment: point.comment, tags: point.tags };
}

type Fail = (field: string, text: string) => undefined;

const REQUIRED = 'This field is required.';
const NO_DATA = 'No data provided';
const NOT_NULL = 'This field may not be null.';
const NO_NUMBER = 'A valid number is required.';
const NO_STRING = 'Not a valid string.';
const NO_NUL = 'Null characters are not allowed.';
const BLANK = 'This field may not be blank.';
const TOO_LONG = `Ensure this field has no more than ${MAX_TAG_LENGTH} characters.`;
const NO_FILE = 'The submitted data was not a file. Check the encoding type on the form.';

/** A form as a JSON object: the last of a repeated field counts, but all tags do. */
function formFields(form: FormFields): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const name of ['lat', 'lon', 'comment', 'image']) {
    const value = form.get(name)?.at(-1);
    if (value !== undefined) fields[name] = value;
  }
  const tags = form.get('tags') ?? numberedTags(form);
  if (tags !== undefined) fields['tags'] = tags;
  return fields;
}

/** Tags as some clients write lists: `tags[0]=…&tags[1]=…`, by their numbers. */
function numberedTags(form: FormFields): string[] | undefined {
  const numbered = [...form].flatMap(([name, values]) => {
    const number = /^tags\[(\d+)\]$/.exec(name)?.[1];
    return number === undefined ? [] : [{ number: Number(number), value: values.at(-1)! }];
  });
  if (numbered.length === 0) return undefined;
  return numbered.sort((a, b) => a.number - b.number).map(({ value }) => value);
}

function readDegrees(field: 'lat' | 'lon', fields: JsonObject, fail: Fail): string | undefined {
  if (!Object.hasOwn(fields, field)) return fail(field, REQUIRED);
  const value = fields[field];
  if (value === null) return fail(field, NOT_NULL);
  if (typeof value !== 'string' && typeof value !== 'number') return fail(field, NO_NUMBER);
  const text = String(value).trim();
  return toEightDigits(text) === undefined ? fail(field, NO_NUMBER) : text;
}

/** A text without white space around it; numbers count as their text. */
function readString(field: string, value: unknown, fail: Fail, prefix = ''): string | undefined {
  if (value === null) return fail(field, prefix + NOT_NULL);
  if (typeof value !== 'string' && typeof value !== 'number') {
    return fail(field, prefix + NO_STRING);
  }
  const text = String(value).trim();
  return text.includes('\0') ? fail(field, prefix + NO_NUL) : text;
}

function readTags(value: unknown, fail: Fail): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (value === null) return fail('tags', NOT_NULL);
  if (!Array.isArray(value)) {
    return fail('tags', `Expected a list of items but got type "${typeName(value)}".`);
  }
  if (value.length > MAX_TAGS) {
    return fail('tags', `Expected at most ${MAX_TAGS} items, but got ${value.length}.`);
  }
  const tags: string[] = [];
  for (const [index, item] of value.entries()) {
    const prefix = `Item ${index}: `;
    const tag = readString('tags', item, fail, prefix);
    if (tag === '') fail('tags', prefix + BLANK);
    else if (tag !== undefined && [...tag].length > MAX_TAG_LENGTH) fail('tags', prefix + TOO_LONG);
    else if (tag !== undefined) tags.push(tag);
  }
  return tags;
}

/** The type of a JSON value, by the names that the errors of the original service have. */
function typeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return 'dict';
}

function fewOf(texts: readonly string[]): readonly string[] {
  const more = texts.length - MAX_MESSAGES;
  return more > 0 ? [...texts.slice(0, MAX_MESSAGES), `… and ${more} more.`] : texts;
}
