import type { Logger } from 'pino';
import type { ProcessStatus } from '../live/service.js';
import type { ServeSettings } from '../settings.js';
import { type FromPrimary, type FromWorker, PEER_POINTS } from './messages.js';
import type { Peers } from './peers.js';
import { type RunningServer, startServer } from './server.js';

/** Runs a worker process of a cluster: it serves, and asks the primary where the others are concerned. */
export async function runWorker(settings: ServeSettings, logger: Logger): Promise<void> {
  const waiting = new Map<number, (answer: FromPrimary) => void>();
  let lastId = 0;
  let statuses: readonly ProcessStatus[] = [];
  let server: RunningServer | undefined;

  const ask = (question: (id: number) => FromWorker): Promise<FromPrimary> => {
    const id = ++lastId;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      tell(question(id));
    });
  };
  const peers: Peers = {
    points: Number(process.env[PEER_POINTS] ?? 0),
    async inTurn(build) {
      await ask((id) => ({ kind: 'want-build', id }));
      try {
        return await build();
      } finally {
        tell({ kind: 'built' });
      }
    },
    publish: (status) => tell({ kind: 'status', status }),
    statuses: (own) => statuses.map((one) => (one.pid === own.pid ? own : one)),
    async reload(accept) {
      await ask((id) => ({ kind: 'want-reload', id, accept }));
    },
    async metrics() {
      const answer = await ask((id) => ({ kind: 'want-metrics', id }));
      return answer.kind === 'metrics' ? answer.text : '';
    },
  };

  let isClosing = false;
  const close = async (): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    await server?.close();
    process.exit(0);
  };
  const act = async (message: FromPrimary): Promise<void> => {
    switch (message.kind) {
      case 'statuses':
        statuses = message.statuses;
        return;
      case 'look':
        await server?.look(message.accept);
        return tell({ kind: 'looked', id: message.id });
      case 'give-metrics': {
        const metrics = (await server?.registry.getMetricsAsJSON()) ?? [];
        return tell({ kind: 'own-metrics', id: message.id, metrics });
      }
      case 'close':
        return close();
      default:
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
    }
  };
  process.on('message', (message: FromPrimary) => void act(message));
  // without a primary nobody would replace or end this process
  process.on('disconnect', () => void close());
  // signals of a terminal reach the whole group, but it is the primary that says what to do
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

  try {
    server = await startServer(settings, logger, peers);
  } catch (error) {
    // the channel to the primary would keep this process from ending
    isClosing = true;
    process.disconnect();
    throw error;
  }
  tell({ kind: 'serving', ...server.begun });
}

function tell(message: FromWorker): void {
  if (process.connected) process.send!(message);
}
