import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

/** A folder on the way to a path, and what is looked up in it. */
export interface Step {
  /** Its path without links. */
  readonly folder: string;
  /** Differs when another folder took its place. */
  readonly inode: string;
  /** Undefined for a folder at the end of the way, all of whose names count. */
  readonly name: string | undefined;
  /** Whether that name is a folder too, so that the way goes on through it. */
  readonly isPassed: boolean;
}

const MAX_LINKS = 40;

/**
 * The folders that the system passes on the way to a path, links followed, as far as they exist.
 * Only a change of one of their names can make the path another file.
 */
export function wayTo(path: string): Step[] {
  const start = resolve(path);
  const steps: Step[] = [];
  const rest = partsOf(start);
  let folder = parse(start).root;
  let inner = statusOf(folder);
  for (let links = 0; inner?.isDirectory() && links <= MAX_LINKS; ) {
    const inode = `${inner.dev} ${inner.ino}`;
    const name = rest.shift();
    if (name === '..') {
      folder = dirname(folder);
      inner = statusOf(folder);
      continue;
    }
    if (name === undefined) {
      steps.push({ folder, inode, name, isPassed: false });
      break;
    }
    const next = statusOf(join(folder, name));
    steps.push({ folder, inode, name, isPassed: next?.isDirectory() === true });
    if (next?.isSymbolicLink()) {
      links++;
      const target = targetOf(join(folder, name));
      rest.unshift(...partsOf(target));
      if (!isAbsolute(target)) continue;
      folder = parse(target).root;
      inner = statusOf(folder);
    } else {
      folder = join(folder, name);
      inner = next;
    }
  }
  return steps;
}

function partsOf(path: string): string[] {
  const { root } = parse(path);
  return path
    .slice(root.length)
    .split(sep)
    .filter((part) => part !== '' && part !== '.');
}

/** Undefined for what is not there, or is not to be seen. */
function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Where a link leads; to nowhere when it went away in the meantime. */
function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
