import cluster from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { fastify } from 'fastify';

// entry of a bare Fastify route that reads a post and sends it back, in a process for each core

if (cluster.isPrimary) {
  const processes = Array.from({ length: availableParallelism() }, () => cluster.fork());
  const listening = processes.map((one) => once(one, 'listening'));
  const [[{ port }]] = (await Promise.all(listening)) as [[AddressInfo]];
  console.log(JSON.stringify({ address: `http://127.0.0.1:${port}` }));
} else {
  const app = fastify();
  app.post('/rest/map_data_points/', (request, reply) => {
    reply.code(201).send(request.body);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
}
