import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Envelope } from '../support/client.js';
import { withFolder } from '../support/native.js';
import { readyOf } from '../support/operating.js';
import { FIXTURE_POINTS, startService } from '../support/service.js';
import { testUnless } from '../support/skip.js';
import { until } from '../support/wait.js';

const POINTS = '/rest/map_data_points/';
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

testUnless(
  hasPrlimit ? undefined : 'prlimit is needed to take the room of a running process away',
  'without room a post gets 503 and leaves nothing, and it goes on when there is room again',
  () =>
    withFolder(async (folder) => {
      const journal = join(folder, 'points.journal');
      const flags = ['--snapshot', FIXTURE_POINTS, '--journal', journal];
      const service = await startService([...flags, '--posts-per-address', '0']);
      const post = async (comment: string): Promise<number> => {
        const body = JSON.stringify({ lat: '10.5', lon: '-20.25', comment });
        const headers = { 'Content-Type': 'application/json' };
        const reply = await service.get(POINTS, { method: 'POST', body, headers });
        if (reply.status === 503) assert.type(reply.json<{ detail: string }>().detail, 'string');
        return reply.status;
      };
      const comments = async (): Promise<string[]> => {
        const { text } = await service.get(`${POINTS}?bbox=-20.3,10.4,-20.2,10.6`);
        const { results } = JSON.parse(text) as Envelope;
        return (results as { comment: string }[]).map(({ comment }) => comment);
      };
      const allow = (bytes: string): void => {
        const { status } = spawnSync('prlimit', ['--pid', `${service.pid}`, `--fsize=${bytes}:`]);
        assert.is(status, 0);
      };
      try {
        assert.is(await post('first'), 201);
        allow(`${statSync(journal).size + 100}`);
        const refused = await Promise.all([post('second'), post('third')]);
        assert.equal(refused, [503, 503]);
        assert.equal(await comments(), ['first']);
        assert.ok('unwritable' in (await readyOf(service)));

        allow('unlimited');
        await until('there is room', async () => !('unwritable' in (await readyOf(service))));
        assert.is(await post('fourth'), 201);
        assert.equal(await comments(), ['first', 'fourth']);
      } finally {
        await service.stop();
      }
      const again = await startService(flags);
      try {
        const { text } = await again.get(`${POINTS}?bbox=-20.3,10.4,-20.2,10.6`);
        assert.is((JSON.parse(text) as Envelope).count, 2);
      } finally {
        await again.stop();
      }
    }),
);

test.run();
