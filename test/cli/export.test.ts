import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ExportOptions, exportSnapshot } from '../../src/cli/export.js';
import { EXPORT_FORMATS } from '../../src/http/request/addresses.js';
import { renderPoint } from '../../src/model/point.js';
import { InputError } from '../../src/model/quote.js';
import { engineOf, exportPieces, linesOf } from '../support/engine.js';
import { makeJournal, newPost } from '../support/journals.js';
import { blockOf, point, writeNative } from '../support/native.js';
import { pointOf, scatterNotes } from '../support/notes.js';
import { assert, makeFile, makeFolder, refusal, test } from '../support/uvu.js';

const notes = scatterNotes(9, 1_000);
const rows = notes.map((note) => `${renderPoint(pointOf(note))}\n`).join('');
const engine = await engineOf(notes);

/** Exports; returns the bytes of the file, or of standard output, and what was printed. */
async function run(
  input: string,
  output: string,
  options: ExportOptions = {},
): Promise<{ bytes: Buffer; lines: string[] }> {
  const lines: string[] = [];
  const stdout = new PassThrough();
  const streamed = buffer(stdout);
  await exportSnapshot(input, output, { stdout, print: (line) => lines.push(line), ...options });
  stdout.end();
  return { bytes: output === '-' ? await streamed : readFileSync(output), lines };
}

test('a file has what the service exports, in the format of its name or another', async () => {
  const folder = makeFolder();
  const input = join(folder, 'in.ndjson');
  writeFileSync(input, rows);
  for (const { name } of EXPORT_FORMATS) {
    const { bytes } = await run(input, join(folder, `out.${name}`));
    assert.ok(bytes.equals(Buffer.concat(await exportPieces(engine, name))), name);
    const { bytes: streamed } = await run(input, '-', { format: name });
    assert.ok(streamed.equals(bytes), name);
  }
  const stdin = Readable.from([Buffer.from(rows)]);
  const { bytes, lines } = await run('-', '-', { stdin });
  assert.equal(linesOf(bytes).sort(), linesOf(Buffer.from(rows)).sort());
  assert.match(lines[0]!, 'exported standard input (ndjson) as ndjson to standard output');
});

test('filters are those of an address', async () => {
  const input = makeFile(rows, 'in.ndjson');
  const filter = 'status=NEW,x%22y&bbox=-180,-90,180,60&ordering=-created_at&fields=id,status';
  const { bytes, lines } = await run(input, '-', { filter });
  const expected = notes
    .filter(({ status = 'NEW', lat }) => ['NEW', 'x"y'].includes(status) && lat <= 60)
    .sort((a, b) => b.created - a.created || b.id - a.id)
    .map(({ id, status = 'NEW' }) => JSON.stringify({ id, status }));
  assert.equal(linesOf(bytes), expected);
  assert.match(lines[1]!, `${expected.length.toLocaleString('en')} points, `);
  const { bytes: none } = await run(input, '-', { filter: 'status=nothing', format: 'geojson' });
  assert.equal(JSON.parse(none.toString()).features, []);
});

test('posts of a journal belong to the snapshot', async () => {
  const { path, open, folder } = makeJournal();
  const journal = await open();
  for (let id = 11; id <= 13; id++) await journal.append(newPost(id));
  await journal.close();
  const snapshot = join(folder, 'in.waypost');
  writeNative(snapshot, [blockOf([point({ id: 1 })])]);
  const { bytes, lines } = await run(snapshot, '-', { journal: path });
  const ids = linesOf(bytes).map((line) => JSON.parse(line).id);
  assert.equal(ids.sort(), [1, 11, 12, 13]);
  assert.match(lines.join('\n'), '3 posts of ');
});

test('what cannot be done is refused, and leaves nothing behind', async () => {
  const folder = makeFolder();
  const input = join(folder, 'in.ndjson');
  writeFileSync(input, rows);
  const output = join(folder, 'out.csv');
  const refused = (to: string, options?: ExportOptions): Promise<string> =>
    refusal(exportSnapshot(input, to, options));
  const controller = new AbortController();
  controller.abort(new InputError('Stopped by SIGINT.'));
  const cases: [to: string, options: ExportOptions, why: RegExp | string][] = [
    [join(folder, 'out.xml'), {}, 'out.xml ends with "xml"'],
    [output, { format: 'xml' }, /one of ndjson, .*; got "xml"$/],
    [output, { filter: 'page=2' }, 'there is no "page"'],
    [output, { filter: 'bbox=1' }, '--filter: bbox: Got "1"'],
    [input, {}, 'it is the input itself'],
    [output, { signal: controller.signal }, 'Stopped by SIGINT.'],
  ];
  for (const [to, options, why] of cases) assert.match(await refused(to, options), why);
  writeFileSync(input, `${rows}{"id":1}\n`);
  assert.match(await refused(output), '1 of 1001 records are invalid');
  writeFileSync(input, `{"count":2,"next":null,"results":[${rows.split('\n')[0]}]}`);
  assert.match(await refused(output), /in.ndjson: is a page of a longer list: .*; fetch all/);
  assert.not.ok(existsSync(output));
  assert.equal(readdirSync(folder), ['in.ndjson']);
});

test.run();
