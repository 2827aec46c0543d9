import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Clock ticks a second in /proc: fixed at 100 on Linux, whatever the kernel's own clock. */
const TICKS = 100;

/**
 * CPU seconds that a process and its threads have used, in user mode and in the kernel; undefined
 * where there is no /proc or no such process.
 */
export function cpuSeconds(pid: number): number | undefined {
  const text = readProc(`${pid}/stat`);
  if (text === undefined) return undefined;
  // the name in parentheses may hold spaces
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/**
 * Bytes that a process and all its children have in memory, and the sum of each one's peak;
 * undefined without /proc. Pages of files, which the processes share, count once.
 */
export function memoryOf(pid: number): { rss: number; peak: number } | undefined {
  const all = processTree(pid)
    .map(ownMemoryOf)
    .filter((one) => one !== undefined);
  if (all.length === 0) return undefined;
  const sum = (key: 'rss' | 'peak' | 'files'): number =>
    all.reduce((total, one) => total + one[key], 0);
  const counted = sum('files') - Math.max(...all.map(({ files }) => files));
  return { rss: sum('rss') - counted, peak: sum('peak') - counted };
}

function ownMemoryOf(pid: number): { rss: number; peak: number; files: number } | undefined {
  const text = readProc(`${pid}/status`);
  if (text === undefined) return undefined;
  const kilobytes = (key: string): number =>
    Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  const bytes = (key: string): number => kilobytes(key) * 1024;
  return { rss: bytes('VmRSS'), peak: bytes('VmHWM'), files: bytes('RssFile') };
}

/** Process ids of the direct and indirect children of a process, itself first. */
export function processTree(pid: number): number[] {
  const children = readProc(`${pid}/task/${pid}/children`)?.trim().split(' ') ?? [];
  return [pid, ...children.filter(Boolean).flatMap((child) => processTree(Number(child)))];
}

/** The command line of a process; empty where it has ended. */
export function commandOf(pid: number): string {
  return readProc(`${pid}/cmdline`) ?? '';
}

/** CPU seconds of processes and all their children; undefined without /proc. */
export function treeCpuSeconds(pids: number | readonly number[]): number | undefined {
  const all = [pids].flat().flatMap(processTree).map(cpuSeconds);
  return all[0] === undefined ? undefined : all.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

/** Waits until a server has finished what clients left it with, at most for some 15 seconds. */
export async function untilIdle(pids: readonly number[]): Promise<void> {
  for (let i = 0; i < 300; i++) {
    const before = treeCpuSeconds(pids);
    await delay(50);
    const after = treeCpuSeconds(pids);
    if (before === undefined || after === undefined || after - before < 0.025) return;
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Niceness by which clients go before the service, as real ones have machines of their own. */
const CLIENT_PRIORITY = 10;

/** Runs `work` at a higher priority than the service has, where the system allows that. */
export async function ahead<T>(work: () => Promise<T>): Promise<T> {
  const usual = getPriority();
  try {
    setPriority(Math.max(-20, usual - CLIENT_PRIORITY));
  } catch {
    return work();
  }
  try {
    return await work();
  } finally {
    // processes that this one starts would inherit it
    setPriority(usual);
  }
}
