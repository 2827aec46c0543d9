/** The formats that an image may have, by the ending that its name gets. */
export type Ending = 'jpg' | 'png';

/** Characters that are left of a client's name: with id and digest the whole stays below 100. */
const MOST_CHARACTERS = 40;
const DIGEST_CHARACTERS = 8;

/**
 * A file name made of what a client called its file: letters and digits without accents, `_` and
 * `-`, the beginning of the image's digest, and the ending of what it really is. The digest tells
 * two images of one name apart.
 */
export function safeName(suggested: string, digest: string, ending: Ending): string {
  // a path of the client's own machine, and its idea of an ending, tell nothing
  const base = suggested.replace(/^.*[/\\]/s, '').replace(/\.[^.]*$/s, '');
  const plain = base
    .slice(0, 4 * MOST_CHARACTERS)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .slice(0, MOST_CHARACTERS)
    .replaceAll(/^[_-]+|[_-]+$/g, '');
  const stem = plain === '' ? 'image' : plain;
  return `${stem}_${digest.slice(0, DIGEST_CHARACTERS)}.${ending}`;
}
