import { createReadStream, type Stats } from 'node:fs';
import { access, constants, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { CHECKSUM_SUFFIX } from '../../formats/snapshot.js';
import { marksOf, targetOf, unreadable } from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';
import {
  belongsTo,
  type Candidate,
  isPattern,
  isSnapshotName,
  matcherOf,
  type Source,
  startOf,
} from './source.js';
import { type WatchOptions, watchPaths } from './watch.js';

export interface LocalOptions extends WatchOptions {
  /** A snapshot file, a folder whose newest whole file is served, or a folder and a pattern. */
  readonly path: string;
  /** A file that is read with every snapshot. */
  readonly companion?: string | undefined;
  /** Files that are no snapshots, but may be in the folder under any name. */
  readonly journal?: string | undefined;
  readonly tokens?: string | undefined;
}

/** With the files as they were when looked at. */
interface FileCandidate extends Candidate {
  readonly file: Stats;
  readonly checksum: Stats | undefined;
  readonly beside: Stats | undefined;
}

/** Error codes for a file that is not there, or that this process may not see. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP']);
const LOOKS_AT_ONCE = 64;

export async function openLocalSource(options: LocalOptions, logger: Logger): Promise<Source> {
  const { path, companion, journal, tokens } = options;
  const pattern = basename(path);
  // a file may have such a name
  const hasPattern = isPattern(pattern) && (await statIfAny(path)) === undefined;
  const root = hasPattern ? dirname(path) : path;
  const fits = hasPattern ? matcherOf(pattern) : () => true;
  const isFile = (await statIfAny(root))?.isFile();
  const folder = isFile ? dirname(root) : root;
  const journals = await namesIn(folder, journal);
  const others = [...(await namesIn(folder, tokens)), ...(await namesIn(folder, companion))];
  const matches = (name: string): boolean =>
    isSnapshotName(name) && fits(name) && !journals.some((one) => belongsTo(one, name));
  const isCandidate = (name: string): boolean => matches(name) && !others.includes(name);

  return {
    name: path,
    isRemote: false,
    async list() {
      const beside = companion === undefined ? undefined : await statIfAny(companion);
      const file = await stat(root);
      if (file.isFile()) {
        return [candidateOf(root, file, await statIfAny(besideOf(root)), beside)];
      }
      if (!file.isDirectory()) throw new InputError(`${root}: it is neither a file nor a folder`);
      const found = await candidatesIn(root, isCandidate, beside);
      if (found.length > 0) return found;
      const which = hasPattern ? `that ${pattern} fits` : 'that can be a snapshot';
      throw new InputError(`${root}: there is no file in this folder ${which}`);
    },
    async open(candidate) {
      const { path, file, checksum, beside } = candidate as FileCandidate;
      const text = checksum && startOf(createReadStream(besideOf(path)));
      return {
        path,
        marks: marksOf(file),
        checksum: await text?.catch((error) => {
          throw unreadable(besideOf(path), error);
        }),
        async state() {
          const changes = await Promise.all([
            statIfAny(path).then((now) => changeOf(file, now)),
            checksum && statIfAny(besideOf(path)).then((now) => changeOf(checksum, now)),
            companion && statIfAny(companion).then((now) => changeOf(beside, now)),
          ]);
          if (changes.includes('written')) return 'written';
          return changes.includes('replaced') ? 'replaced' : 'same';
        },
      };
    },
    watch(onChange) {
      const paths = [root, companion].filter((one) => one !== undefined);
      const named = paths.map((one) => basename(one));
      const counts = (name: string): boolean => {
        const own = name.endsWith(CHECKSUM_SUFFIX) ? name.slice(0, -CHECKSUM_SUFFIX.length) : name;
        // Kubernetes switches the link `..data`, which others lead through
        return name.startsWith('..') || named.includes(own) || matches(own);
      };
      return watchPaths(paths, options, logger, counts, onChange);
    },
  };
}

/** The matching files of a folder, the newest first, ties by the later name. Throws as `stat`. */
async function candidatesIn(
  folder: string,
  matches: (name: string) => boolean,
  beside: Stats | undefined,
): Promise<readonly FileCandidate[]> {
  const all = new Set(await readdir(folder));
  const names = [...all].filter(matches);
  const found: FileCandidate[] = [];
  for (let from = 0; from < names.length; from += LOOKS_AT_ONCE) {
    const looks = names.slice(from, from + LOOKS_AT_ONCE).map(async (name) => {
      const path = join(folder, name);
      const hasChecksum = all.has(besideOf(name));
      const checksum = hasChecksum ? await statIfAny(besideOf(path)) : undefined;
      const file = await statIfAny(path);
      if (file?.isFile()) found.push(candidateOf(path, file, checksum, beside));
    });
    await Promise.all(looks);
  }
  // of a folder that may not be entered the names are known, and no file
  if (found.length === 0) await access(folder, constants.X_OK);
  return found.sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? 1 : -1));
}

function candidateOf(
  path: string,
  file: Stats,
  checksum: Stats | undefined,
  beside: Stats | undefined,
): FileCandidate {
  const own = `${marksOf(file)}+${checksum && marksOf(checksum)}`;
  const identity = `${own}|${beside && marksOf(beside)}`;
  return { path, own, identity, modifiedAt: file.mtimeMs, file, checksum, beside };
}

function besideOf(path: string): string {
  return `${path}${CHECKSUM_SUFFIX}`;
}

/** The file as it is now; undefined for the codes of {@link ABSENT}. Throws other errors. */
export async function statIfAny(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}

/** What has become of a file between two looks. */
export function changeOf(
  before: Stats | undefined,
  now: Stats | undefined,
): 'same' | 'replaced' | 'written' {
  if (before === undefined || now === undefined) return before === now ? 'same' : 'replaced';
  if (marksOf(before) === marksOf(now)) return 'same';
  return before.dev === now.dev && before.ino === now.ino ? 'written' : 'replaced';
}

/** The names that a file and what a link leads to have in a folder; none where it is elsewhere. */
async function namesIn(folder: string, path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  try {
    const inside = await realpath(folder);
    const names: string[] = [];
    for (const one of [targetOf(path), path]) {
      if ((await realpath(dirname(one))) === inside) names.push(basename(one));
    }
    return names;
  } catch {
    // what opens the folder or the file says what is wrong
    return [];
  }
}
