import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Logger } from 'pino';
import { targetOf } from '../../formats/system-files.js';
import { InputError } from '../../model/quote.js';
import { changeOf, type FileState, stateIfAny, stateOf } from './file-state.js';
import { candidateOf, type FileCandidate, Folder } from './folder.js';
import { belongsTo, CHECKSUM_SUFFIX, isPattern, matcherOf } from './names.js';
import type { Source } from './source.js';
import { type WatchOptions, watchPaths } from './watch.js';

export interface LocalOptions extends WatchOptions {
  /**
   * A snapshot file, a folder whose newest whole file is served, or a folder and a pattern of
   * names.
   */
  readonly path: string;
  /** A file that is read with every snapshot. */
  readonly companion: string | undefined;
  /** The journal of accepted points, which may be in the folder under any name, and is no snapshot. */
  readonly journal?: string | undefined;
}

/** Snapshots of this machine's file system: a file, or those of a folder. */
export async function openLocalSource(options: LocalOptions, logger: Logger): Promise<Source> {
  const { path, companion, journal } = options;
  const pattern = basename(path);
  // a file may well be called so
  const hasPattern = isPattern(pattern) && (await stateIfAny(path)) === undefined;
  const root = hasPattern ? dirname(path) : path;
  const matches = hasPattern ? matcherOf(pattern) : () => true;
  const own = journal === undefined ? undefined : await nameIn(root, journal);
  const folder = new Folder(root, (name) => matches(name) && !belongsTo(own, name));
  let beside: FileState | undefined;

  async function candidates(): Promise<readonly FileCandidate[]> {
    const state = await stateOf(root);
    if (state.kind === 'other') throw new InputError(`${root}: it is neither a file nor a folder`);
    if (state.kind === 'file') {
      return [
        candidateOf(root, basename(root), state, await stateIfAny(`${root}${CHECKSUM_SUFFIX}`)),
      ];
    }
    const found = await folder.list();
    if (found.length > 0) return found;
    const which = hasPattern ? `that ${pattern} fits` : 'that can be a snapshot';
    throw new InputError(`${root}: there is no file in this folder ${which}`);
  }

  return {
    name: path,
    async list() {
      beside = companion === undefined ? undefined : await stateIfAny(companion);
      return { candidates: await candidates(), companion: beside?.identity ?? '' };
    },
    async open(candidate) {
      const { file, checksum } = candidate as FileCandidate;
      const besideThen = beside;
      const checksumPath = `${candidate.path}${CHECKSUM_SUFFIX}`;
      return {
        path: candidate.path,
        checksumPath: checksum === undefined ? undefined : checksumPath,
        async state() {
          const changes = await Promise.all([
            stateIfAny(candidate.path).then((now) => changeOf(file, now)),
            checksum && stateIfAny(checksumPath).then((now) => changeOf(checksum, now)),
            companion && stateIfAny(companion).then((now) => changeOf(besideThen, now)),
          ]);
          if (changes.includes('written')) return 'written';
          return changes.includes('replaced') ? 'replaced' : 'same';
        },
      };
    },
    watch(onChange) {
      const paths = [root, companion].filter((one) => one !== undefined);
      return watchPaths(paths, options, logger, (ended, name) => {
        // of a folder's files not all can be snapshots
        if (ended === root && !folder.touch(name)) return;
        onChange();
      });
    },
  };
}

/** The name that a file has in a folder; undefined where it is elsewhere. */
async function nameIn(folder: string, path: string): Promise<string | undefined> {
  try {
    const target = targetOf(path);
    const isInside = (await realpath(dirname(target))) === (await realpath(folder));
    return isInside ? basename(target) : undefined;
  } catch {
    // what opens the folder or the journal says what is wrong
    return undefined;
  }
}
