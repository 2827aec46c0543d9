import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { JournalDamaged } from '../../../src/live/journal/journal.js';
import { readLine } from '../../../src/live/journal/line.js';
import { read } from '../../support/documents.js';
import { numbers, sampleJournal, withJournal } from '../../support/journals.js';
import { ROOT } from '../../support/service.js';

const fixture = (name: string): string => join(ROOT, `test/fixtures/journal/${name}.journal`);
const SAMPLE = readFileSync(fixture('sample'), 'utf8');

function withChecksum(json: string): string {
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}`;
}

test('the writer still makes the file that an earlier one made, which the specification shows', () =>
  withJournal(async (path) => {
    const { bytes } = await sampleJournal(path);
    assert.is(bytes.toString(), SAMPLE);
    assert.ok(read('docs/journal-format.md').includes(`\`\`\`text\n${SAMPLE}\`\`\``));
  }));

test('the sample files are opened, cut or refused as the specification says', () =>
  withJournal(async (path, open) => {
    copyFileSync(fixture('sample'), path);
    const sample = await open();
    assert.is(numbers(sample.replay()), '1:101 3:120 4:121 5:122 6:123 7:124');
    assert.equal(
      Array.from(sample.keys(), ({ name }) => name),
      ['- a', '7 b'],
    );
    await sample.close();
    copyFileSync(fixture('torn'), path);
    const torn = await open();
    assert.is(numbers(torn.replay()), '1:101 3:120 4:121 5:122 6:123');
    assert.ok(torn.opened.cutBytes > 100);
    await torn.close();
    copyFileSync(fixture('damaged'), path);
    assert.instance(await open().catch((error: unknown) => error), JournalDamaged);
  }));

test('a line that says what no entry says is none', () => {
  const lines = SAMPLE.split('\n').slice(0, -1);
  for (const line of lines) assert.type(readLine(Buffer.from(line)), 'object');
  const post = lines[6]!.slice(9);
  const key = lines[3]!.slice(9);
  const head = lines[0]!.slice(9);
  for (const [json, changed] of [
    [post, post.replace('"sequence":4', '"sequence":0')],
    [post, post.replace('"id":121', '"id":0')],
    [post, post.replace('"lat":"60.17000000"', '"lat":"91"')],
    [post, post.replace('"status"', '"state"')],
    [post, post.replace('"7 b"', '"7 ü"')],
    [post, post.replace('"7 b"', '7')],
    [post, post.replace(/3333"\}$/, '333"}')],
    [post, post.replace(/,"body".*/, '}')],
    [post, post.replace(/\}$/, ',"moved_from":"1"}')],
    [key, key.replace('"id":102', '"id":"102"')],
    [key, key.replace('"- a"', '""')],
    [head, head.replace('"version":1', '"version":2')],
    [head, head.replace('"waypost"', '"other"')],
    [head, head.replace('"posts":2', '"posts":-1')],
    [head, head.replace('"next_id":121', '"next_id":0')],
    ['', '{}'],
    ['', '[]'],
    ['', 'null'],
    ['', '{"synced":-1}'],
    ['', '{"synced":1'],
    ['', '{"next_sequence":0,"foreign":0}'],
    ['', '{"next_sequence":2}'],
    [head, head.replace(',"foreign":0', '')],
  ] as const) {
    assert.is.not(changed, json);
    assert.type(readLine(Buffer.from(withChecksum(changed))), 'string', changed);
  }
  assert.type(readLine(Buffer.from(withChecksum('{"synced":0}'))), 'object');
  assert.type(readLine(Buffer.from(withChecksum('{"synced":0}').toUpperCase())), 'string');
  assert.type(readLine(Buffer.from('')), 'string');
});

test.run();
