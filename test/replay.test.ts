import { recordedCases, recordedPoints, differencesOf } from './support/recorded.js';
import { FIXTURE_POINTS, startService } from './support/service.js';
const service = await startService(['--snapshot', FIXTURE_POINTS, '--time-zone', 'Europe/Helsinki']);
const points = recordedPoints();
for (const one of recordedCases()) {
  const { method, target, headers, body } = one;
  const reply = await service.get(target, {
    method,
    headers: { Host: 'testserver.example', ...headers },
    ...(body === null ? {} : { body }),
  });
  const d = differencesOf(one, reply, points);
  if (d) console.log(JSON.stringify([one.name, one.method, one.target, d]));
}
await service.stop();
