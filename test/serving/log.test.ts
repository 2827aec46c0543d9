import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { pino } from 'pino';
import { openSocket } from '../../src/serving/listen.js';
import { ask, LIST } from '../support/client.js';
import { markedLines, replaceFile } from '../support/marked.js';
import { startOwnService } from '../support/own-service.js';
import { logged, MAIN, SNAPSHOT } from '../support/service.js';
import { assert, makeFile, refusal, test, until } from '../support/uvu.js';

const FLAGS = ['serve', '--snapshot', SNAPSHOT, '--port', '0', '--journal', 'none'];
const hasScript = spawnSync('script', ['--version']).status === 0;

/** The output of a service's whole run; `use` may use its port before it is ended. */
async function outputOf(
  command: string,
  args: readonly string[],
  use: (port: string) => Promise<void> = async () => {},
): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let text = '';
  let used: Promise<void> | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
    const [line = ''] = /^[^\n]*serving[^\n]*\n/m.exec(text) ?? [];
    const port = /http:\/\/(?:\[.*?\]|[^:]*):(\d+)/.exec(line)?.[1];
    if (port === undefined) return;
    const pid = Number(/^PID (\d+)\b/m.exec(text)?.[1] ?? child.pid);
    used ??= use(port).finally(() => process.kill(pid, 'SIGTERM'));
  });
  const [code] = await ended;
  await used;
  assert.is(code, 0, text);
  return text;
}

const LINE =
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO {2}serving version=\S+ points=(?:1|3000) .*address=http:\S+/m;

// on Linux, all of 127.0.0.0/8 is this machine
const OTHER = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
const record = { id: 1, lat: 1, lon: 2, created_at: '2023-05-01T12:00Z' };
const STRANGE = makeFile(`${JSON.stringify({ ...record, 'a\u001b[2J\u202e\n': 1 })}\n`);

/** Runs a command on a terminal where `script` is installed, else with the terminal's format. */
function onTerminal(args: readonly string[], use?: (port: string) => Promise<void>) {
  if (!hasScript) return outputOf(process.execPath, [...args, '--log-format', 'text'], use);
  const serve = [process.execPath, ...args].map((one) => `"${one}"`).join(' ');
  const command = `sh -c 'echo PID $$; exec ${serve} 2>/dev/null'`;
  return outputOf('script', ['-qefc', command, '/dev/null'], use);
}

for (const [workers, run] of [
  ['1', onTerminal],
  ['2', (args, use) => outputOf(process.execPath, [...args, '--log-format', 'text'], use)],
] as readonly [string, typeof onTerminal][]) {
  test(`${workers} workers log text that commands no terminal`, async () => {
    const args = [MAIN, ...FLAGS, '--workers', workers, '--snapshot', STRANGE];
    args.push('--host', OTHER);
    const text = await run(args, async (port) => {
      const reply = await fetch(`http://${OTHER}:${port}/health/live`);
      assert.is(reply.status, 200, `with ${workers}`);
    });
    assert.match(text, LINE);
    assert.not.match(text, 'pid=');
    const [line] = /^.* WARN .*$/m.exec(text)!;
    assert.match(line, ' WARN  unknown keys dropped unknownKeys={"a\\u001b[2J\\u202e\\n":1}');
  });
}

(hasScript ? test : test.skip)('lines on a terminal are JSON where that is wanted', async () => {
  const args = [MAIN, ...FLAGS, '--workers', '1', '--log-format', 'json'];
  assert.match(await onTerminal(args), /^\{"level":30,.*"msg":"serving"\}/m);
});

for (const format of ['json', 'text']) {
  test(`lines of ${format} are whole in a pipe, however long an address`, async () => {
    const args = [MAIN, ...FLAGS, '--workers', '1', '--access-log', '100', '--log-format', format];
    const path = `${LIST}?page_size=1&x=${'"'.repeat(20_000)}`;
    const headers = { 'X-Request-Id': 'i'.repeat(128) };
    const text = await outputOf(process.execPath, args, async (port) => {
      const reply = await ask(Number(port), path, { headers });
      assert.is(reply.status, 200, reply.text);
    });
    const line = text.split('\n').find((one) => one.includes('iii'))!;
    assert.ok(line.includes(`${LIST}?page_size=1&x=`), line);
    const bytes = Buffer.byteLength(line);
    assert.ok(bytes > 2_000 && bytes < 4_096, `${bytes} bytes`);
    assert.match(line, /\\"…"/);
  });
}

test('durations are logged to the millisecond, those of requests to the microsecond', async () => {
  const path = makeFile(markedLines(1));
  const service = await startOwnService([
    ...['--snapshot', path, '--settle', '30ms', '--access-log', '100'],
  ]);
  replaceFile(path, markedLines(2));
  await until('it is loaded', () => logged(service, 'snapshot loaded').length > 0);
  const requests = () => logged(service, 'request');
  for (let i = 0; i < 5; i++) await service.get('/rest/');
  await until('all are logged', () => requests().length === 5);
  for (const { seconds } of requests()) assert.match(String(seconds), /^\d+\.\d{1,6}$/);
  const [loaded] = logged(service, 'snapshot loaded');
  assert.match(String(loaded!['seconds']), /^\d+(\.\d{1,3})?$/);
});

test('an invalid address, or one of another machine, is refused by name', async () => {
  const none = /^Cannot listen on .*: no address is named; leave --host/;
  for (const [host, reason] of [
    ['', none],
    [' ', none],
    // reserved for documentation
    ['203.0.113.1', /^Cannot listen on 203\.0\.113\.1:0: no interface here has that address; name/],
    ['a.invalid', /^Cannot listen on a\.invalid:0: the name has no address; name an address of/],
  ] as const) {
    const where = { host, port: 0, listenTimeout: 0 };
    const quiet = pino({ level: 'silent' });
    assert.match(await refusal(openSocket(where, quiet)), reason);
    const ofOperators = await refusal(openSocket({ ...where, of: 'operations-' }, quiet));
    assert.match(ofOperators, /--operations-host\b/);
  }
});

test.run();
