import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Who owns a temporary file: where process numbers mean the same, the process, when it began. */
interface Owner {
  readonly place: string;
  readonly pid: number;
  readonly start: string;
}

const NAME = /^\.waypost-([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{8}\.tmp$/;

/**
 * A name for a temporary file, which tells its owner: hidden, and of another ending, so that nobody
 * who watches the folder takes it for a snapshot.
 */
export function temporaryIn(folder: string): string {
  const { place, pid, start } = self();
  const random = randomBytes(4).toString('hex');
  return join(folder, `.waypost-${place}-${pid}-${start}-${random}.tmp`);
}

/**
 * Removes temporary files whose process is gone without having removed them, such as one that was
 * killed. Those of other machines, containers and starts of this machine stay: whether their
 * process is gone cannot be known here.
 */
export function removeLeftovers(folder: string): void {
  const { place } = self();
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // whoever writes into it will say so
    return;
  }
  for (const name of names) {
    const [, itsPlace = '', pid, start = ''] = NAME.exec(name) ?? [];
    if (itsPlace !== place || !isGone(Number(pid), start)) continue;
    try {
      unlinkSync(join(folder, name));
    } catch {
      // gone by now, or somebody else's to remove
    }
  }
}

/** Whether no process has this number, or one that has ended or began at another time. */
function isGone(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true;
  }
  const now = stateOf(pid);
  // a parent that never asks how its child ended keeps the number, with state Z
  return now !== undefined && (now.start !== start || now.state === 'Z');
}

function self(): Owner {
  const place = placeOfNumbers();
  const start = stateOf(process.pid)?.start;
  // a name that matches nobody, here or elsewhere, is never removed by another process
  if (place === undefined || start === undefined) {
    return { place: randomBytes(6).toString('hex'), pid: process.pid, start: '0' };
  }
  return { place, pid: process.pid, start };
}

/**
 * Names this start of the machine and this container, among all that may share a folder; Linux
 * only.
 */
function placeOfNumbers(): string | undefined {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const container = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${start} ${container}`).digest('hex').slice(0, 12);
  } catch {
    return undefined;
  }
}

/**
 * What a process does, as one letter, and when it began, in ticks since the start of the machine;
 * undefined where that cannot be seen.
 */
function stateOf(
  pid: number,
): { readonly state: string | undefined; readonly start: string | undefined } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the name in the second field may have spaces and brackets; these are fields 3 and 22
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], start: fields[19] };
  } catch {
    return undefined;
  }
}
