/** What runs, or turns the page round, where a text becomes markup. */
export const HOSTILE: readonly string[] = [
  ...['<script>alert(1)</script>', '"><img src=x onerror=alert(2)>'],
  ...['</textarea></pre></title><script>alert(3)</script>', 'javascript:alert(4)'],
  ...["' autofocus onfocus='alert(5)", '<svg/onload=alert(6)>&lt;b&gt;&#x202e;'],
  '\u202egnorw\u2067 \u2066<a href=javascript:alert(7)>x</a>',
];
/** Where the hostile records are: alone, and all on one spot. */
const [LAT, LON] = ['-45.5', '-120.25'];
export const AROUND: string = `coordinates=${LAT},${LON},1000`;

/** A record of a snapshot for each text, which has it wherever a record has text. */
export const HOSTILE_RECORDS: readonly object[] = HOSTILE.map((text, index) => ({
  id: 900_001 + index,
  status: text,
  comment: text,
  image: text,
  tags: [text],
  lat: LAT,
  lon: LON,
  created_at: '2023-05-01T12:00:00Z',
}));
