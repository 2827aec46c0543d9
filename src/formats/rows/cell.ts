const WHOLE_NUMBER = /^\d{1,16}$/;
const TRUE = /^(?:true|t|1)$/i;
const FALSE = /^(?:false|f|0)$/i;

/**
 * The value that the text of a CSV field stands for in the column `name`. What cannot be read as
 * that column wants stays text, for the validator to refuse with the text in its message.
 */
export function readCell(name: string, text: string): unknown {
  switch (name) {
    case 'id':
    case 'created_by':
      return readWholeNumber(text.trim());
    case 'is_processed':
      return readFlag(text.trim());
    case 'tags':
      return readTags(text.trim());
    case 'lat':
    case 'lon':
    case 'created_at':
    case 'modified_at':
      return text.trim();
    default:
      return text;
  }
}

function readWholeNumber(text: string): unknown {
  return WHOLE_NUMBER.test(text) ? Number(text) : text;
}

function readFlag(text: string): unknown {
  if (TRUE.test(text)) return true;
  return FALSE.test(text) ? false : text;
}

/** A JSON array, an array as PostgreSQL exports it, or texts separated by semicolons. */
function readTags(text: string): unknown {
  if (text === '') return undefined;
  if (text.startsWith('[')) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  if (text.startsWith('{') && text.endsWith('}')) return readPostgresArray(text) ?? text;
  return text.split(';').map((tag) => tag.trim());
}

/** Undefined where it is none. Looks at each character once. */
function readPostgresArray(text: string): (string | null)[] | undefined {
  const inner = text.slice(1, -1);
  const items: (string | null)[] = [];
  if (inner === '') return items;
  for (let at = 0; ; at++) {
    while (isWhite(inner[at])) at++;
    const isQuoted = inner[at] === '"';
    const start = isQuoted ? at + 1 : at;
    const end = endOfItem(inner, start, isQuoted);
    if (end === undefined) return undefined;
    const raw = inner.slice(start, end);
    const item = (isQuoted ? raw : raw.trim()).replace(/\\(.)/gs, '$1');
    items.push(!isQuoted && /^null$/i.test(raw.trim()) ? null : item);
    at = isQuoted ? end + 1 : end;
    if (at === inner.length) return items;
    if (inner[at] !== ',') return undefined;
  }
}

/** Where the text of an item ends: at its closing quote, or at the comma or end behind it. */
function endOfItem(inner: string, start: number, isQuoted: boolean): number | undefined {
  for (let at = start; at < inner.length; at++) {
    const character = inner[at]!;
    if (character === '\\') {
      // the character behind it stands for itself
      at++;
      if (at === inner.length) return undefined;
    } else if (isQuoted) {
      if (character === '"') return at;
    } else if (character === ',') {
      return at === start ? undefined : at;
    } else if (character === '"' || character === '{' || character === '}') {
      return undefined;
    }
  }
  return isQuoted || start >= inner.length ? undefined : inner.length;
}

function isWhite(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}
