import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Envelope } from '../support/client.js';
import { startOwnService } from '../support/own-service.js';
import { SNAPSHOT } from '../support/service.js';

const service = await startOwnService(['--snapshot', SNAPSHOT]);

const POINTS = '/rest/map_data_points/';

test('a record by id is, byte for byte, the record of the list', async () => {
  const { text } = await service.get(`${POINTS}?page_size=1000&page=2`);
  const { results } = JSON.parse(text) as Envelope;
  assert.is(results.length, 1000);
  for (const { id } of results.slice(0, 100)) {
    const record = await service.get(`${POINTS}${id}/`);
    assert.is(record.status, 200);
    assert.ok(text.includes(record.text), `${id}`);
  }
});

test('first and last are there, what is beside them is not', async () => {
  for (const id of [1, 3000]) {
    assert.is((await service.get(`${POINTS}${id}/`)).json<{ id: number }>().id, id);
  }
  const none = [
    '0',
    '3001',
    '9007199254740991',
    '9007199254740993',
    '9'.repeat(16),
    '9'.repeat(90),
  ];
  for (const id of [...none, '1'.repeat(500)]) {
    const reply = await service.get(`${POINTS}${id}/`);
    assert.is(reply.status, 404, id);
    assert.equal(reply.json(), { detail: 'Not found.' });
  }
});

test('what is no number names no record', async () => {
  const names = [
    '',
    'abc',
    '-1',
    '+1',
    '1.0',
    '1e0',
    '0x1',
    '1,',
    '1_000',
    '%201',
    '1%20',
    '%2B1',
    '%00',
  ];
  for (const name of [...names, '%EF%BC%91', 'NaN', 'last', '1%2F', '__proto__', 'constructor']) {
    assert.is((await service.get(`${POINTS}${name}/`)).status, 404, name);
  }
});

test('leading zeros and escapes of digits make no difference', async () => {
  const { text } = await service.get(`${POINTS}7/`);
  for (const name of ['07', '0000000000000007', '%37']) {
    assert.is((await service.get(`${POINTS}${name}/`)).text, text, name);
  }
});

test('parameters that it does not know make no difference to a record', async () => {
  const { text } = await service.get(`${POINTS}7/`);
  for (const query of ['?format=json', '?page=99', '?bbox=x', '?', '?&&=']) {
    assert.is((await service.get(`${POINTS}7/${query}`)).text, text, query);
  }
  assert.is((await service.get(`${POINTS}7/?format=xml`)).status, 404);
});

test('the root names the resources, and they are there', async () => {
  const links = (await service.get('/rest/')).json<Record<string, string>>();
  assert.equal(Object.keys(links), ['map_data_points', 'notifications']);
  for (const link of Object.values(links)) {
    const { host, pathname } = new URL(link);
    assert.is(host, `127.0.0.1:${service.port}`);
    assert.is((await service.get(pathname)).status, 200);
  }
});

test.run();
