import { Random } from '../../src/cli/generate/random.js';

export interface HostileQuery {
  readonly query: string;
  /** False for bytes that no request target may hold: the service closes after its answer. */
  readonly isTarget: boolean;
}

/** Keeps a request's head below the service's limit of 32 KiB. */
const MAX_LENGTH = 16_000;

const VALID = [
  'bbox=24.94,60.16,24.96,60.18&ordering=created_at',
  ...['bbox=24.9,60.1,25,60.2&ordering=-modified_at&page=2', 'bbox=170,-20,-170,-10'],
  'coordinates=60.166,24.951,1000&page=2',
  'coordinates=-16.8,179.99,50000&ordering=-created_at',
  'created_at_after=2022-05-01T00:00:00Z&created_at_before=2023-06-01T00%3A00%3A00%2B02:00',
  'modified_at_after=2022-01-01T00:00:00.5&ordering=modified_at&page=last',
  ...['page=3&format=json&x=%C3%A4+b', 'format=api&ordering=created_at'],
  'status=NEW,OPEN&is_processed=false&has_image=true&bbox=24.9,60.1,25,60.2',
  'tags=Lighting,Muu%202&tags_all=a&tags_all=b&created_by=148,none,7',
  'polygon=24,60;25,60;25,61;24,61|24.4,60.4;24.6,60.4;24.5,60.6',
  ...['polygon=170,-20;-170,-20;-170,-10;170,-10&coordinates=-16.8,179.99,50000', ''],
];

const NAMES = [
  ...['bbox', 'coordinates', 'polygon', 'ordering', 'page', 'page_size', 'format'],
  ...['created_at_after', 'created_at_before', 'modified_at_after', 'modified_at_before', 'status'],
  ...['is_processed', 'tags', 'tags_all', 'created_by', 'has_image', '__proto__', 'constructor'],
  ...['toString', 'hasOwnProperty', 'bbox[]', 'bbox[0]', 'page%00', 'PAGE', '%70age', ''],
];

const NUMBERS = [
  ...['0', '-0', '1', '-1', '2', '180', '-180', '90', '-90', '1e999', '-1e999', '1e-999', '5e-324'],
  ...['9007199254740993', '1e16', '0x10', '0b1', '1_0', 'NaN', 'nan', 'inf', 'Infinity', '-inf'],
  ...['.', '.5', '5.', '+5', '1e', '1e+', '١٢', '１', '1.7976931348623157e308', '²', '4,5'],
];

const TEXTS = [
  ...["' OR 1=1 --", '"; DROP TABLE points; --', '<script>alert(1)</script>', '%{(#a=1)}'],
  ...['{{7*7}}', '../../../../etc/passwd', '\r\nSet-Cookie: a=b', 'GET / HTTP/1.1', '\0'],
  ...['\u2028\u2029\ufeff\u202e', '\ud83d\ude00'],
  ...['e\u0301'.repeat(20), '{"a":[1]}', '(a+)+$', 'last', 'null', 'undefined', '*'],
];

const ESCAPES = ['%', '%%', '%2', '%zz', '%u0041', '%c0%af', '%ff', '%ed%a0%80', '%f4%90%80%80'];

const TIMES = [
  ...['2022-01-01T00:00:00Z', '0000-00-00T00:00:00Z', '-2022-01-01T00:00:00Z'],
  ...['99999-01-01T00:00:00Z', '2022-01-01T00:00:00+99:99', '2022-01-01T00:00:00.9999999999999Z'],
  ...['2022-03-27T03:30:00', '2022-10-30T03:30:00', '1970-01-01T00:00'],
  '9999-12-31T23:59:59-18:00',
];

/** Seeded hostile query strings of every known kind, in equal parts. */
export function createHostileQueries(seed: number): () => HostileQuery {
  const random = new Random(seed, 'point');
  const kinds: readonly (() => string)[] = [
    () => encodeURIComponent(randomText(random)),
    () => join(random, () => `${pickName(random)}=${garbage(random)}`),
    () => join(random, () => `${pickName(random)}=${list(random)}`),
    () => join(random, () => `${pickName(random)}=${encodeURIComponent(random.pick(TEXTS))}`),
    () => join(random, () => `${random.pick(NAMES)}=${random.pick(TIMES)}`),
    () => mutate(random, random.pick(VALID)),
    () => mutate(random, mutate(random, random.pick(VALID))),
    () => random.pick(VALID),
    () => printable(random, random.int(120)),
    () => `${pickName(random)}=${repeated(random)}`,
  ];
  return () => {
    // few records a page: these tests are about queries
    const small = random.chance(0.9) ? `&page_size=${1 + random.int(5)}` : '';
    if (random.chance(0.01)) {
      const raw = Array.from({ length: 1 + random.int(30) }, () => rawByte(random)).join('');
      return { query: `x=${raw}\x80${small}`, isTarget: false };
    }
    return { query: random.pick(kinds)().slice(0, MAX_LENGTH) + small, isTarget: true };
  };
}

function pickName(random: Random): string {
  return random.chance(0.8)
    ? random.pick(NAMES.slice(0, NAMES.indexOf('__proto__')))
    : random.pick(NAMES);
}

function join(random: Random, part: () => string): string {
  return Array.from({ length: 1 + random.int(5) }, part).join(random.chance(0.9) ? '&' : ';');
}

function list(random: Random): string {
  const length = random.chance(0.01) ? random.int(1500) : random.int(7);
  const numbers = Array.from({ length }, () => {
    if (random.chance(0.5)) return String(random.between(-200, 200));
    return encodeURIComponent(random.pick(NUMBERS));
  });
  if (random.chance(0.2)) return places(random, numbers);
  return numbers.join(random.chance(0.95) ? ',' : ',,');
}

/** A polygon's places of these numbers, some with wrong separators. */
function places(random: Random, numbers: readonly string[]): string {
  const between = (i: number): string =>
    random.chance(0.95) ? (i % 2 === 0 ? ',' : ';') : random.pick(['|', ';;', '||', ',', '%7C']);
  return numbers.map((number, i) => number + between(i)).join('');
}

function garbage(random: Random): string {
  return Array.from({ length: random.int(12) }, () =>
    random.chance(0.5) ? random.pick(ESCAPES) : printable(random, 3),
  ).join('');
}

const REPEATED = ['9', ',', '%', '%41', '+', '&', '&a', '=', '1,', '%00', '-', 'page=2&'];

function repeated(random: Random): string {
  const part = random.pick(REPEATED);
  const most = random.chance(0.1) ? 16_000 : 500;
  return part.repeat(random.int(Math.floor(most / part.length)));
}

function randomText(random: Random): string {
  const codes = Array.from({ length: random.int(40) }, () => {
    const code = random.int(random.pick([0x80, 0x800, 0x10000, 0x110000]));
    // half a surrogate pair has no UTF-8
    return code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
  });
  return String.fromCodePoint(...codes);
}

/** Characters that a request target may have. */
function printable(random: Random, length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += String.fromCharCode(0x21 + random.int(0x5e));
  return text;
}

function mutate(random: Random, text: string): string {
  const at = random.int(text.length + 1);
  const to = Math.min(text.length, at + random.int(4));
  const [before, behind, cut] = [text.slice(0, at), text.slice(at), text.slice(to)];
  return random.pick([
    () => before + cut,
    () => before + printable(random, 1 + random.int(3)) + cut,
    () => before + random.pick(ESCAPES) + behind,
    () => before + encodeURIComponent(random.pick(NUMBERS)) + cut,
    () => `${text}&${behind}${before}`,
  ])();
}

function rawByte(random: Random): string {
  const byte = random.pick([random.int(0x21), 0x7f + random.int(0x81)]);
  return String.fromCharCode(byte === 0x0a || byte === 0x0d ? 0 : byte);
}
