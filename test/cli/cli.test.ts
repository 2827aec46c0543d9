import {
  readEnvironment,
  SERVE_SETTINGS,
  strangeVariables,
} from '../../src/cli/settings/settings.js';
import { type Envelope, LIST } from '../support/client.js';
import { read } from '../support/documents.js';
import { type Outcome, runCommand, runInThread, startService } from '../support/service.js';
import { assert, rounds, test } from '../support/uvu.js';

/** Arguments that are refused before anybody looks for the snapshot. */
const REFUSED = ['serve', '--snapshot', 'no-file.ndjson'];

function assertRefused({ code, stdout, stderr }: Outcome, message: RegExp): void {
  assert.is(code, 1, `${stdout}${stderr}`);
  assert.match(stderr, message);
  assert.not.match(stderr, /\n {4}at /);
  assert.is(stdout, '');
}

test('--help lists the commands, what each takes, and of every setting all there is to know', async () => {
  const program = await runInThread(['--help']);
  assert.is(program.code, 0);
  const commands: Readonly<Record<string, readonly string[]>> = {
    pack: [
      ...['<input>', '<output>', '--max-invalid <number>', '--notifications <file>'],
      ...['--allow-empty', 'standard input', 'standard output'],
    ],
    verify: ['<file>', '--max-invalid <number>', '--allow-empty'],
    generate: ['--points <number>', '--seed <number>', '--out <file>'],
    serve: [],
  };
  let help = '';
  for (const [name, parts] of Object.entries(commands)) {
    assert.match(program.stdout, new RegExp(`^ {2}${name} .*\\w`, 'm'));
    const { code, stdout, stderr } = await runInThread([name, '--help']);
    assert.equal([code, stderr], [0, '']);
    for (const part of parts) assert.ok(stdout.includes(part), `${name}: ${part}`);
    // as one line, without the wrapping
    help = stdout.replaceAll(/\s+/g, ' ');
  }
  for (const { flag, help: text, environment, fallback } of SERVE_SETTINGS) {
    const start = help.indexOf(` ${flag} `);
    assert.ok(start > 0, flag);
    const rest = help.slice(start, start + 400);
    assert.ok(rest.includes(text), `${flag}: ${text}`);
    const fact = fallback === undefined ? '' : `default: ${fallback}, `;
    assert.ok(rest.includes(`(${fact}env: ${environment})`), `${flag}: ${rest}`);
  }
});

test('an unknown flag or command is refused with the nearest known one, what is missing is named', async () => {
  const cases: [args: string[], message: RegExp][] = [
    [[...REFUSED, '--prot', '1'], /unknown option '--prot'\n\(Did you mean --port\?\)/],
    [['serve', '--snapsho', 'x'], /unknown option '--snapsho'\n\(Did you mean --snapshot\?\)/],
    [['serve', '--time-zon', 'UTC'], /unknown option '--time-zon'\n\(Did you mean --time-zone\?\)/],
    [['pack', 'a', 'b', '--max-invalds', '1'], /\(Did you mean --max-invalid\?\)/],
    [['verify', 'a', '--max-invald', '1'], /\(Did you mean --max-invalid\?\)/],
    [['generate', '--pionts', '5'], /unknown option '--pionts'\n\(Did you mean --points\?\)/],
    [['serv'], /unknown command 'serv'\n\(Did you mean serve\?\)/],
    [['--bogus'], /unknown option '--bogus'/],
    [[...REFUSED, 'extra'], /too many arguments for 'serve'/],
    [['serve'], /required option '--snapshot <file>' not specified/],
    [['serve', '--snapshot'], /option '--snapshot <file>' argument missing/],
    [['pack'], /missing required argument 'input'/],
    [['pack', 'points.ndjson', ''], /argument output is empty/],
    [['pack', 'a'], /missing required argument 'output'/],
    [['verify'], /missing required argument 'file'/],
    [['generate', '--out', 'x.ndjson'], /required option '--points <number>' not specified/],
    [['generate', '--points', '5'], /required option '--out <file>' not specified/],
    [
      ['generate', '--points', '0'],
      /--points <number>' .*Expected a whole number, 1 to 1073741824/,
    ],
    [
      [...REFUSED, '--workers', 'abc'],
      /--workers <number>' .*Expected auto or a whole number, 1 to 128/,
    ],
    [['generate', '--seed', '0.5'], /--seed <number>' .*Expected a whole number, 0 or more/],
    [[], /^Usage: waypost /],
  ];
  for (const [args, message] of cases) assertRefused(await runInThread(args), message);
  // and by the process itself
  const [args, message] = cases[0]!;
  assertRefused(await runCommand(args), message);
});

test('a bad value is named with its flag and the rule', async () => {
  const valued = SERVE_SETTINGS.filter(({ flag }) => flag.includes('<'));
  for (const { parse, flag } of valued) assert.throws(() => parse!(''), /^expected /, flag);
  const isAnyText = /<(?:file|folder|place|address|name|token)>$/;
  const strict = valued.filter(({ flag }) => !isAnyText.test(flag));
  assert.ok(strict.length > 10);
  for (const { parse, flag } of strict) {
    assert.throws(() => parse!('?!'), /^expected /, flag);
  }
  // and by the command line, for some
  for (const { flag } of strict.slice(-rounds(10))) {
    const name = flag.split(' ', 1)[0]!;
    const rule = new RegExp(`option '${flag}' argument '\\?!' is invalid\\. Expected .*\\.\n`);
    assertRefused(await runInThread([...REFUSED, name, '?!']), rule);
  }
  const rule = /value 'x' from env 'WAYPOST_PORT' is invalid\. Expected a whole number, 0 to 65535/;
  assertRefused(await runCommand(REFUSED, { WAYPOST_PORT: 'x' }), rule);
});

test('values just outside the rules of settings are refused', () => {
  const bad: Readonly<Record<string, readonly string[]>> = {
    '--port': ['65536', '-1', '1.5', '', ' 1', '1e3', '0x50'],
    '--max-shrink': ['101', '-1', '50%'],
    '--workers': ['0', '129', 'AUTO'],
    '--answer-cache': ['64MB', '-1', '1.5MiB', '', 'MiB'],
    '--settle': ['5', '-5s', '1h', '', '10081m', '999999999s'],
    '--shutdown-timeout': ['604801s', '9999999m'],
    '--poll-interval': ['0', '9ms'],
    '--request-timeout': ['0', '0s'],
    '--upload-timeout': ['0', '0ms'],
    '--answer-timeout': ['0'],
    '--max-header-size': ['0', '1023'],
    '--cors-origin': [
      ...['map.example', 'https://map.example/', 'https://map.example/a', 'https://MAP.example'],
      ...['https://map.example:443', 'https://a.example,', '', 'https://*.example'],
    ],
    '--public-url': [
      'ftp://x.example',
      'https://u@x.example',
      'https://x.example/?a',
      'x.example',
      'http://x.example//y.example',
    ],
    '--tile-url': [
      ...['ftp://x.example/{z}/{x}/{y}', 'https://x.example/{z}/{x}', 'https://{z}.{x}.{y}/'],
      ...["https://x.example/{z}/{x}/{y}; script-src 'unsafe-inline'", '/{z}/{x}/{y}.png'],
    ],
    '--allowed-hosts': ['a b', 'a.example,', 'https://a.example'],
    '--log-level': ['loud', 'INFO', ''],
    '--watch': ['on', ''],
  };
  for (const [name, values] of Object.entries(bad)) {
    const setting = SERVE_SETTINGS.find(({ flag }) => flag.startsWith(`${name} `))!;
    for (const value of values) {
      assert.throws(() => setting.parse!(value), /^expected /, `${name} ${value}`);
    }
  }
});

test('`*` in a list of origins allows them all', () => {
  const { parse } = SERVE_SETTINGS.find(({ flag }) => flag.startsWith('--cors-origin'))!;
  assert.equal(parse!('https://a.example, *'), ['*']);
  const own = ['http://localhost:3000', 'https://[::1]:8443', 'capacitor://localhost', 'null'];
  assert.equal(parse!(own.join(', ')), own);
  assert.equal(parse!('none'), []);
});

test('the variable of a switch says yes or no, and an empty variable is as good as unset', () => {
  const read = (value: string): unknown => readEnvironment({ WAYPOST_TRUST_PROXY: value });
  for (const value of ['true', 'yes', '1', 'TRUE']) {
    assert.equal(read(value), { WAYPOST_TRUST_PROXY: value });
  }
  for (const value of ['false', 'no', '0', 'False', '']) assert.equal(read(value), {});
  for (const value of ['on', 'off', 'x', ' ']) {
    assert.throws(() => read(value), /^WAYPOST_TRUST_PROXY: expected true or false, got "/);
  }
  assert.equal(readEnvironment({ WAYPOST_ADMIN_TOKEN: '', WAYPOST_PORT: '', HOME: '' }), {
    HOME: '',
  });
});

/** What Kubernetes sets in every pod that starts after a Service called `waypost`. */
const OF_A_SERVICE = {
  WAYPOST_SERVICE_HOST: '10.0.0.1',
  WAYPOST_SERVICE_PORT: '80',
  WAYPOST_SERVICE_PORT_HTTP: '80',
  WAYPOST_PORT: 'tcp://10.0.0.1:80',
  WAYPOST_PORT_80_TCP: 'tcp://10.0.0.1:80',
  WAYPOST_PORT_80_TCP_PROTO: 'tcp',
  WAYPOST_PORT_80_TCP_PORT: '80',
  WAYPOST_PORT_80_TCP_ADDR: '10.0.0.1',
  // and after one called `waypost-readers`
  WAYPOST_READERS_PORT: 'tcp://10.0.0.2:80',
  WAYPOST_READERS_SERVICE_HOST: '10.0.0.2',
};

test('variables that look like settings and are none are reported', () => {
  const strange = strangeVariables;
  assert.equal(strange({ WAYPOST_PORT: '80', WAYPOST_TIME_ZONE: 'UTC', TIME_ZONE: 'UTC' }), []);
  assert.equal(strange({ WAYPOST_TIMEZONE: 'UTC', WAYPOST_MAX_CONECTIONS: '5' }), [
    'WAYPOST_TIMEZONE',
    'WAYPOST_MAX_CONECTIONS',
  ]);
  assert.equal(strange(OF_A_SERVICE), ['WAYPOST_PORT']);
  assert.not.ok('WAYPOST_PORT' in readEnvironment(OF_A_SERVICE));
  const operations = { WAYPOST_OPERATIONS_PORT: 'tcp://10.0.0.1:81' };
  const found = [strange(operations), readEnvironment(operations)];
  assert.equal(found, [['WAYPOST_OPERATIONS_PORT'], {}]);
});

test('a variable sets what no flag does, and variables that set nothing are warned of', async () => {
  const service = await startService(['--public-url', 'https://flag.example'], {
    ...OF_A_SERVICE,
    WAYPOST_TIMEZONE: 'x',
    WAYPOST_WORKERS: '2',
    WAYPOST_PUBLIC_URL: 'https://variable.example',
    WAYPOST_TIME_ZONE: 'Europe/Helsinki',
    WAYPOST_CORS_ORIGIN: 'none',
  });
  const { version } = JSON.parse(read('package.json'));
  assert.is(service.logs.find(({ msg }) => msg === 'serving')!['version'], version);
  const warnings = service.logs.filter(({ level }) => level === 40);
  assert.equal(
    warnings.map(({ msg, variable }) => [msg, variable]),
    [
      ['this variable sets nothing', 'WAYPOST_PORT'],
      ['this variable sets nothing', 'WAYPOST_TIMEZONE'],
    ],
  );
  const root = (await service.get('/rest/')).json<Record<string, string>>();
  assert.is(root['notifications'], 'https://flag.example/rest/notifications/');
  // the oldest point is of that instant in UTC; the same time in Helsinki is two hours earlier
  for (const [zone, count] of Object.entries({ '': 0, Z: 1 })) {
    const path = `${LIST}?created_at_before=2020-01-01T18:08:40.797858${zone}`;
    const reply = await service.get(path);
    assert.is(reply.json<Envelope>().count, count);
    assert.is(reply.headers['access-control-allow-origin'], undefined);
  }
  // by SIGTERM
  await service.stop();
  assert.is(await service.ended, 0);
});

test.run();
