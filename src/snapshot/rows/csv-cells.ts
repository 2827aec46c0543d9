const WHOLE_NUMBER = /^\d{1,16}$/;
const TRUE = /^(?:true|t|1)$/i;
const FALSE = /^(?:false|f|0)$/i;
const ARRAY_ITEM = /\s*(?:"((?:[^"\\]|\\.)*)"|((?:[^",{}\\]|\\.)+))(,|$)/sy;

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

/** Undefined when it is none. */
function readPostgresArray(text: string): (string | null)[] | undefined {
  const inner = text.slice(1, -1);
  const items: (string | null)[] = [];
  let at = 0;
  let separator = inner === '' ? '' : ',';
  while (separator === ',') {
    ARRAY_ITEM.lastIndex = at;
    const match = ARRAY_ITEM.exec(inner);
    if (match === null) return undefined;
    const [whole, quoted, plain = '', behind = ''] = match;
    const item = (quoted ?? plain.trim()).replace(/\\(.)/gs, '$1');
    items.push(quoted === undefined && /^null$/i.test(plain.trim()) ? null : item);
    at += whole.length;
    separator = behind;
  }
  return at === inner.length ? items : undefined;
}
