import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writeAtomically } from '../../src/snapshot/atomic-file.js';
import { withFolder } from '../support/native.js';
import { until } from '../support/wait.js';

const ATOMIC = new URL('../../src/snapshot/atomic-file.js', import.meta.url).href;

/**
 * A process that is writing a file into the folder, once it does; or a child of it that is, and
 * that it never asks how it ended.
 */
async function startWriter(folder: string, isChild = false): Promise<ChildProcess> {
  const script = `
    import { writeAtomically } from '${ATOMIC}';
    await writeAtomically(${JSON.stringify(join(folder, 'theirs'))}, () => {
      console.log('writing');
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    });`;
  const command = [process.execPath, '--input-type=module', '-e', script];
  const negligent = ['sh', '-c', '"$@" & exec sleep 60', 'sh'];
  const [file, ...args] = isChild ? [...negligent, ...command] : command;
  const child = spawn(file!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout!, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

const writeOurs = (folder: string): Promise<void> =>
  writeAtomically(join(folder, 'ours'), () => {});

// only Linux tells when a process began
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('what a killed process leaves is removed by the next one, not before', () =>
  withFolder(async (folder) => {
    const writer = await startWriter(folder);
    const [name, ...more] = readdirSync(folder);
    try {
      assert.match(
        name!,
        new RegExp(`^\\.waypost-[0-9a-f]{12}-${writer.pid}-\\d+-[0-9a-f]{8}\\.tmp$`),
      );
      assert.equal(more, []);
      await writeOurs(folder);
      assert.equal(readdirSync(folder), [name, 'ours']);
    } finally {
      await kill(writer);
    }
    assert.equal(readdirSync(folder), [name, 'ours']);
    await writeOurs(folder);
    assert.equal(readdirSync(folder), ['ours']);
  }),
);

onLinux('a number that another process has by now does not save a file', () =>
  withFolder(async (folder) => {
    const writer = await startWriter(folder);
    try {
      const [name] = readdirSync(folder);
      const earlier = name!.replace(/-\d+(-[0-9a-f]{8}\.tmp)$/, '-1$1');
      renameSync(join(folder, name!), join(folder, earlier));
      await writeOurs(folder);
      assert.equal(readdirSync(folder), ['ours']);
    } finally {
      await kill(writer);
    }
  }),
);

onLinux('a process that has ended, and whose parent has not asked how, is gone', () =>
  withFolder(async (folder) => {
    const parent = await startWriter(folder, true);
    try {
      const [name] = readdirSync(folder);
      const pid = Number(name!.split('-')[2]);
      assert.is.not(pid, parent.pid);
      process.kill(pid, 'SIGKILL');
      await until('it has ended', () => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
      await writeOurs(folder);
      assert.equal(readdirSync(folder), ['ours']);
    } finally {
      await kill(parent);
    }
  }),
);

onLinux("what is another machine's, or no such file, stays", () =>
  withFolder(async (folder) => {
    const writer = await startWriter(folder);
    const [name] = readdirSync(folder);
    await kill(writer);
    const place = /-([0-9a-f]{12})-/.exec(name!)![1]!;
    const others = [
      name!.replace(place, '0123456789ab'),
      '.waypost-0123456789abcdef.tmp',
      `.waypost-${place}-x.tmp`,
      `${name}.bak`,
      'notes.tmp',
    ];
    for (const other of others) writeFileSync(join(folder, other), '');
    const folderOfThatName = `.waypost-${place}-999999-1-0123abcd.tmp`;
    mkdirSync(join(folder, folderOfThatName));
    await writeOurs(folder);
    assert.equal(readdirSync(folder).sort(), [...others, folderOfThatName, 'ours'].sort());
  }),
);

test.run();
