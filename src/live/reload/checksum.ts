import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { InputError } from '../../errors.js';
import { fileDigest } from '../../snapshot/files/digest.js';

/** A checksum file has a line a file; one that is longer is something else. */
const LONGEST = 64 * 1024;
/** What `sha256sum` writes: the digest, a space, a space or an asterisk, and the name. */
const LINE = /^\\?([0-9a-f]{64})(?:[ \t]+\*?(.+))?$/i;

/**
 * Compares a snapshot with the SHA-256 that its checksum file gives. Throws an InputError when the
 * file is another, and when the checksum file cannot be understood; and what the system throws.
 */
export async function checkChecksum(path: string, checksumPath: string): Promise<void> {
  const expected = await readChecksum(path, checksumPath);
  const actual = await fileDigest(path);
  if (actual === expected) return;
  throw new InputError(
    `${path}: not whole: its SHA-256 is ${actual}, and ${checksumPath} says ${expected}; it is looked at again when either changes`,
  );
}

/**
 * The digest for the file, in small letters: of its own line, or of a lone digest without a name.
 */
async function readChecksum(path: string, checksumPath: string): Promise<string> {
  const lines = (await readStart(checksumPath))
    .split(/\r?\n/)
    .map((line) => LINE.exec(line.trim()));
  const name = basename(path);
  const own = lines.find(
    (line) => line !== null && (line[2] === undefined || basename(line[2]) === name),
  );
  if (own !== undefined && own !== null) return own[1]!.toLowerCase();
  throw new InputError(
    `${checksumPath}: has no SHA-256 of ${name}; expected a line such as sha256sum writes: 64 hexadecimal digits, two spaces, ${name}`,
  );
}

async function readStart(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: LONGEST })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
