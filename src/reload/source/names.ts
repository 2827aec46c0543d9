/** Names of checksum files end so; a snapshot's own is its name and this. */
export const CHECKSUM_SUFFIX = '.sha256';

/**
 * What programs add to the name of a file that is not finished, or that is a copy for themselves.
 */
const UNFINISHED =
  /~$|\.(?:te?mp|part|partial|filepart|(?:cr)?download|incomplete|uploading|sw[opx]|lock|bak)$/i;
/** Names of checksums and signatures of other files. */
const ABOUT_FILES =
  /(?:\.(?:md5|sha1|sha256|sha512|asc|sig|minisig)|^(?:md5|sha\d+)sums(?:\.txt)?)$/i;
/** What names of the files beside a journal have behind its own: SQLite's, and what was put aside. */
const BESIDE_JOURNAL = '(?:\\.new)?(?:-journal|\\.aside-\\d+)?$';
const JOURNALS = new RegExp(`\\.journal${BESIDE_JOURNAL}`, 'i');
/** Names of texts for people. */
const FOR_PEOPLE = /^(?:readme|licen[cs]e|changelog|notice)(?:\.|$)|\.(?:md|log)$/i;

/**
 * Whether a file of this name in a folder may be a snapshot. Hidden files, unfinished ones, those
 * that are about other files and texts for people are none.
 */
export function isSnapshotName(name: string): boolean {
  const isHidden = name.startsWith('.') || name.startsWith('#');
  const others = [UNFINISHED, ABOUT_FILES, JOURNALS, FOR_PEOPLE];
  return !isHidden && !others.some((one) => one.test(name));
}

/** Whether a file of this name is the journal, or one of the files beside it. */
export function belongsTo(journal: string | undefined, name: string): boolean {
  if (journal === undefined || !name.startsWith(journal)) return false;
  return new RegExp(`^${BESIDE_JOURNAL}`).test(name.slice(journal.length));
}

/**
 * Whether the last part of a path has the signs of a pattern: `*` for any characters, `?` for one.
 */
export function isPattern(name: string): boolean {
  return /[*?]/.test(name);
}

/** Tests names by a pattern; every character but `*` and `?` stands for itself. */
export function matcherOf(pattern: string): (name: string) => boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, 'su');
  return (name) => expression.test(name);
}

/** Whether a snapshot is named by an address rather than a path. */
export function isAddress(snapshot: string): boolean {
  return /^(?:https?|s3):\/\//.test(snapshot);
}
