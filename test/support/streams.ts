import { type IncomingMessage, request } from 'node:http';

/** An event of a stream. */
export interface StreamEvent {
  readonly id: number;
  readonly data: string;
}

/** A stream of events that is read as it comes. */
export interface Followed {
  readonly status: number;
  readonly answer: IncomingMessage;
  readonly events: readonly StreamEvent[];
  /** The id that a browser would come back with. */
  readonly last: number;
  /** How it ended: whole, or broken off; undefined while it goes on. */
  readonly end: 'whole' | 'broken' | undefined;
}

/** Follows a stream, behind the event with the id `behind` where that is given. */
export function follow(port: number, path: string, behind?: number): Promise<Followed> {
  const headers = behind === undefined ? {} : { 'Last-Event-ID': String(behind) };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      const events: StreamEvent[] = [];
      const state = { last: behind ?? -1, end: undefined as Followed['end'] };
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        const blocks = text.split('\n\n');
        text = blocks.pop()!;
        for (const block of blocks) read(block, events, state);
      });
      answer.on('end', () => {
        state.end = 'whole';
      });
      answer.on('error', () => {
        state.end = 'broken';
      });
      resolve({
        status: answer.statusCode!,
        answer,
        events,
        get last() {
          return state.last;
        },
        get end() {
          return state.end;
        },
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Reads an event as browsers do: without data it tells its id only. */
function read(block: string, events: StreamEvent[], state: { last: number }): void {
  const fields = block
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(': ')), line] as const);
  const fieldOf = (name: string): string | undefined =>
    fields.find(([one]) => one === name)?.[1].slice(name.length + 2);
  const id = fieldOf('id');
  if (id !== undefined) state.last = Number(id);
  const data = fieldOf('data');
  if (data !== undefined) events.push({ id: state.last, data });
}
