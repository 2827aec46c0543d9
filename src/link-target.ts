import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * The file that a path stands for, by way of links if it is one, whether the file is there or not
 * yet. Throws what the system says where links cannot be followed, such as round a circle.
 */
export function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const link = linkAt(path);
    if (link === undefined) return path;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return targetOf(resolve(realpathSync(dirname(path)), link));
  }
}

/** What a symbolic link says; undefined where there is none. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
