import { type Body, parseJsonBody } from '../request/body.js';
import { splitList } from '../request/comma-list.js';
import { MAX_POSTED_BYTES } from '../request/fields.js';
import { JSON_FIELD, PAGE_FIELD, type Posted, TAGS_FIELD } from './post-form.js';

type Fields = ReadonlyMap<string, readonly string[]>;

/** Degrees as people of many countries write them. */
const DECIMAL_COMMA = /^\s*([+-]?\d+),(\d+)\s*$/;
/** Fields of the forms that are shown again when something was wrong. */
const SHOWN = ['lat', 'lon', 'comment', TAGS_FIELD, JSON_FIELD, PAGE_FIELD];

/**
 * What a form of a page says, as another client would say it: raw JSON is the body itself, tags are
 * what stands between commas, and `60,17` is 60.17 degrees. Throws a 400 HttpError for what is no JSON.
 */
export function bodyOfForm(fields: Fields): Body {
  const json = fields.get(JSON_FIELD)?.at(-1);
  if (json !== undefined) return parseJsonBody(Buffer.from(json));
  const text = fields.get(TAGS_FIELD)?.at(-1);
  if (text === undefined) return { kind: 'form', fields };
  const tags = splitList(text).filter((tag) => tag.trim() !== '');
  const own = new Map(fields);
  if (tags.length > 0) own.set('tags', tags);
  for (const name of ['lat', 'lon']) {
    const values = fields.get(name)?.map((value) => value.replace(DECIMAL_COMMA, '$1.$2'));
    if (values !== undefined) own.set(name, values);
  }
  return { kind: 'form', fields: own };
}

/** What a form said, to be shown again, but for what is longer than any record. */
export function postedOf(fields: Fields): Posted {
  const posted: Record<string, string> = {};
  for (const name of SHOWN) {
    const value = fields.get(name)?.at(-1);
    if (value !== undefined && value.length <= MAX_POSTED_BYTES) posted[name] = value;
  }
  return posted;
}
