import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Piece, putTogether, takeApart } from './forge.js';
import { blockOf, notification, point, writeNative } from './native.js';

/**
 * Writes the files of test/fixtures/native into an empty folder.
 * `node dist/test/support/native-fixtures.js FOLDER` does it by hand, when the format changes.
 *
 * one, sample and watermark are good; the invalid ones can be read, but do not verify; the others
 * are broken. Those of version 1 are what an earlier writer made of one and sample.
 */
export function writeNativeFixtures(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const file = (name: string): string => join(folder, `${name}.waypost`);
  const hello = point({ id: 7, comment: 'Hi', lat: 60.25, lon: -0.5 });
  writeNative(file('one'), [blockOf([hello])]);

  writeNative(file('watermark'), [blockOf([hello])], [], {
    journal: '0123456789abcdef',
    sequence: 2 ** 40 + 7,
  });

  const blocks = [
    blockOf([
      point({ id: 1, comment: 'työ 😀', tags: ['Noise', '景色'] }),
      point({ id: 2, lat: -90, lon: 180, image: 'a.jpg', created_by: 5, is_processed: true }),
    ]),
    blockOf([point({ id: 3, lat: 0, lon: 0, modified_at: '2023-06-01T09:00:00.5+03:00' })]),
  ];
  writeNative(file('sample'), blocks, [notification(1), notification(2)]);
  const sample = readFileSync(file('sample'));

  const forge = (name: string, edit: (pieces: Piece[]) => void): void => {
    const pieces = takeApart(sample);
    for (const piece of pieces) {
      if (typeof piece === 'string' || piece instanceof Buffer) continue;
      if ('records_crc' in piece) piece['records_crc'] = undefined;
      if ('crc' in piece) piece['crc'] = undefined;
    }
    edit(pieces);
    writeFileSync(file(name), putTogether(pieces));
  };
  writeFileSync(file('cut-short'), sample.subarray(0, -100));
  writeFileSync(file('something-added'), Buffer.concat([sample, Buffer.from('\n')]));
  const flipped = Buffer.from(sample);
  flipped[600]! ^= 4;
  writeFileSync(file('flipped-bit'), flipped);
  forge('version-3', (pieces) => Object.assign(pieces[0]!, { version: 3 }));
  forge('blocks-swapped', (pieces) =>
    pieces.splice(1, 4, ...pieces.slice(3, 5), ...pieces.slice(1, 3)),
  );
  forge('wrong-count', (pieces) => Object.assign(pieces[0]!, { count: 4 }));
  forge('status-9', (pieces) =>
    Object.assign(pieces[3]!, { status: Buffer.from(Uint32Array.of(9).buffer) }),
  );
  forge('invalid-attribute', (pieces) =>
    Object.assign(pieces[1]!, { flags: Buffer.from(Uint8Array.of(0, 2)) }),
  );
  forge('latitude-91', (pieces) =>
    Object.assign(pieces[3]!, { lat: Buffer.from(Float64Array.of(91).buffer) }),
  );

  writeNative(file('invalid-id-twice'), [
    blocks[0]!,
    blockOf([point({ id: 2, comment: 'again' })]),
  ]);
  writeNative(file('invalid-column'), [{ ...blocks[1]!, lon: Float64Array.of(0.5) }]);
  const records = Buffer.from(blocks[1]!.records);
  records.write('lit', records.indexOf('lat'));
  writeNative(file('invalid-record'), [{ ...blocks[1]!, records }]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeNativeFixtures(process.argv[2]!);
