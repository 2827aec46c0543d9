import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { InputError } from '../../model/quote.js';
import { openTimeZone } from '../../model/time-zone.js';
import type { InputFile } from '../input-file.js';
import { openNative } from '../native/read.js';
import { CHECKSUM_SUFFIX, type ReadOptions, type SnapshotReader } from '../snapshot.js';

type OpenedSnapshot = SnapshotReader & Pick<InputFile, 'marks'>;

/** Opens a snapshot file of any format. Throws an InputError where there is none. */
export async function openSnapshot(path: string, options: ReadOptions): Promise<OpenedSnapshot> {
  // native files need no parsers of rows, which take long to load
  const native = openNative(path, options);
  if (native !== undefined) return native;
  const { RowsReader } = await import('../rows/reader.js');
  const { detectFormat } = await import('../rows/detect.js');
  const format = await detectFormat(path);
  if (format === 'native') throw new InputError(`${path}: it changed while it was read`);
  return new RowsReader(path, format, options, await openTimeZone(options.timeZone));
}

/** What `sha256sum` writes: the digest, a space, a space or an asterisk, and the name. */
const LINE = /^\\?([0-9a-f]{64})(?:[ \t]+\*?(.+))?$/i;

/**
 * The digest that a load would report. A native file has it at both ends, and is read and checked
 * only where `isWanted` takes that digest. Throws an InputError where the file is missing or
 * broken.
 */
export async function contentDigest(
  path: string,
  isWanted: (digest: string) => boolean = () => true,
): Promise<string> {
  const reader = openNative(path, {});
  if (reader === undefined) return fileDigest(path);
  try {
    if (!isWanted(reader.digest)) return reader.digest;
    for await (const _ of reader.blocks());
    return reader.digest;
  } finally {
    reader.close();
  }
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Compares a snapshot, which messages call `name`, with the SHA-256 in the text of its checksum
 * file. Throws an InputError where they differ or the text cannot be understood, and what the
 * system throws.
 */
export async function checkChecksum(path: string, name: string, text: string): Promise<void> {
  const expected = readChecksum(name, text);
  const actual = await fileDigest(path);
  if (actual === expected) return;
  throw new InputError(
    `${name}: not whole: its SHA-256 is ${actual}, and ${name}${CHECKSUM_SUFFIX} says ` +
      `${expected}; it is looked at again when either changes`,
  );
}

/** The digest of the line that names the file, or of a line without a name; in small letters. */
function readChecksum(path: string, text: string): string {
  const name = basename(path);
  const lines = text.split(/\r?\n/).map((line) => LINE.exec(line.trim()));
  const own = lines.find(
    (line) => line !== null && (line[2] === undefined || basename(line[2]) === name),
  );
  if (own !== undefined && own !== null) return own[1]!.toLowerCase();
  throw new InputError(
    `${path}${CHECKSUM_SUFFIX}: has no SHA-256 of ${name}; expected a line such as sha256sum writes: ` +
      `64 hexadecimal digits, two spaces, ${name}`,
  );
}
