const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** A request as bytes; `headers` are whole lines. */
export function requestBytes(target: string, headers = '', method = 'GET', host = 'a'): Buffer {
  const head = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`;
  return Buffer.from(head, 'latin1');
}

/** A whole post of JSON as bytes. */
export function postBytes(target: string, body: string, host: string): Buffer {
  const bytes = Buffer.from(body);
  const headers = `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n`;
  return Buffer.concat([requestBytes(target, headers, 'POST', host), bytes]);
}

/**
 * Parses answers from a stream and reports the status of each once it is whole. Nothing may be
 * pipelined behind a chunked answer: it ends where the bytes received so far end with a last chunk.
 */
export function answerReader(onAnswer: (status: string) => void): (chunk: Buffer) => void {
  let head = '';
  let status = '';
  let missing = 0;
  let tail: string | undefined;
  const readChunked = (chunk: Buffer, from: number): void => {
    tail = (tail + chunk.toString('latin1', Math.max(from, chunk.length - 10))).slice(-10);
    if (!tail.endsWith(LAST_CHUNK)) return;
    tail = undefined;
    onAnswer(status);
  };
  return (chunk) => {
    if (tail !== undefined) return readChunked(chunk, 0);
    let at = 0;
    while (at < chunk.length) {
      if (missing > 0) {
        const taken = Math.min(missing, chunk.length - at);
        at += taken;
        missing -= taken;
        if (missing > 0) return;
        onAnswer(status);
        continue;
      }
      const before = head.length;
      head += chunk.toString('latin1', at);
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      at += end + HEAD_END.length - before;
      status = head.slice(9, 12);
      const lines = head.slice(0, end + 2);
      missing = Number(/\r\ncontent-length: *(\d+)/i.exec(lines)?.[1] ?? 0);
      head = '';
      if (/\r\ntransfer-encoding: *chunked/i.test(lines)) {
        tail = '';
        return readChunked(chunk, at);
      }
      if (missing === 0) onAnswer(status);
    }
  };
}
