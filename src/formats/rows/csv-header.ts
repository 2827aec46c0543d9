import { isUtf8 } from 'node:buffer';

const SEPARATORS = [',', ';', '\t'] as const;
/** What others separate columns by. */
const FOREIGN_SEPARATORS = ['|', '^', '~', ':', ' '] as const;
/** Fields that every record has. */
export const REQUIRED: readonly string[] = ['id', 'lat', 'lon', 'created_at'];

/** A file of more columns is no list of notes. */
export const MAX_COLUMNS = 1000;

/** What else the fields of a record are called, the surest names first. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  id: ['id'],
  status: ['status'],
  comment: ['comment'],
  image: ['image'],
  lat: ['lat', 'latitude', 'y'],
  lon: ['lon', 'longitude', 'lng', 'long', 'x'],
  is_processed: ['is_processed'],
  created_by: ['created_by'],
  tags: ['tags'],
  created_at: ['created_at'],
  modified_at: ['modified_at'],
};

/** The first line of a CSV file. */
export interface Header {
  readonly separator: string;
  /** The field of a record that each column has, else the column's own name. */
  readonly names: readonly string[];
  /** Required fields that no column has. */
  readonly missing: readonly string[];
  /** A field that two columns have, if there is one. */
  readonly twice: string | undefined;
}

/**
 * Reads a header with the separator by which it names most of the required fields; undefined where
 * none does.
 */
export function readHeader(
  line: Uint8Array,
  separators: readonly string[] = SEPARATORS,
): Header | undefined {
  if (!isUtf8(line)) return undefined;
  const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString();
  let best: Header | undefined;
  for (const separator of separators) {
    const columns = splitFields(text, separator)?.map((name) => name.trim());
    if (columns === undefined) continue;
    const header = { separator, ...assignFields(columns) };
    const least = best?.missing.length ?? REQUIRED.length;
    if (header.missing.length < least) best = header;
  }
  return best;
}

/** What separates the columns of a header that would be one with another separator. */
export function foreignSeparator(line: Uint8Array): string | undefined {
  const header = readHeader(line, FOREIGN_SEPARATORS);
  return header?.missing.length === 0 ? header.separator : undefined;
}

/**
 * Gives each column its field: the one of exactly its name, else in any case, else by another name.
 * Fields are looked for one after the other, so each column is taken once.
 */
export function assignFields(columns: readonly string[]): Omit<Header, 'separator'> {
  const names = [...columns];
  const exact = indexesOf(columns);
  const anyCase = indexesOf(columns.map((name) => name.toLowerCase()));
  const missing: string[] = [];
  let twice = [...exact].find(([name, indexes]) => name !== '' && indexes.length > 1)?.[0];
  for (const [field, others] of Object.entries(NAMES)) {
    const name = others.find((one) => anyCase.has(one));
    const indexes = exact.get(field) ?? (name === undefined ? undefined : anyCase.get(name));
    if (indexes !== undefined) {
      names[indexes[0]!] = field;
      if (indexes.length > 1) twice ??= field;
    } else if (REQUIRED.includes(field)) {
      missing.push(field);
    }
  }
  return { names, missing, twice };
}

function indexesOf(names: readonly string[]): Map<string, number[]> {
  const indexes = new Map<string, number[]>();
  for (const [index, name] of names.entries()) {
    const before = indexes.get(name);
    if (before === undefined) indexes.set(name, [index]);
    else before.push(index);
  }
  return indexes;
}

/**
 * The fields of one record; undefined where a quote stands inside of a field that is not quoted, or
 * behind one that is.
 */
export function splitFields(text: string, separator: string): string[] | undefined {
  const fields: string[] = [];
  for (let at = 0; ; at++) {
    let end: number;
    if (text[at] === '"') {
      end = endOfQuoted(text, at);
      if (end === 0 || (end < text.length && text[end] !== separator)) return undefined;
      fields.push(text.slice(at + 1, end - 1).replaceAll('""', '"'));
    } else {
      end = text.indexOf(separator, at);
      if (end === -1) end = text.length;
      const field = text.slice(at, end);
      if (field.includes('"')) return undefined;
      fields.push(field);
    }
    if (end === text.length) return fields;
    at = end;
  }
}

/** Behind the quote that closes the field whose quote opens at `from`; 0 where none does. */
function endOfQuoted(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at + 1;
}
