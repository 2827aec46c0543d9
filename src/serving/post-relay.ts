import type { PostReply, PostRequest, Posts } from '../posts/posts.js';

/** A post that another thread took, and the number by which that thread knows it. */
export type RelayedPost = readonly [number: number, request: PostRequest];

/** What became of a question. */
export type Answer<Value> = { readonly value: Value } | { readonly error: unknown };

/** The answer that `work` comes to: its value or its error. Never rejects. */
export async function answerOf<Value>(work: () => Value | Promise<Value>): Promise<Answer<Value>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

/** Settles a promise by an answer. */
export function settleBy<Value>(answer: Answer<Value>, { resolve, reject }: Waiting<Value>): void {
  if ('error' in answer) reject(answer.error);
  else resolve(answer.value);
}

/** The functions of a promise that waits for an answer. */
interface Waiting<Value> {
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** What became of a relayed post. */
export type RelayedReply = readonly [number: number, answer: Answer<PostReply>];

/** The end of a relay that takes posts and hands them on. */
interface PostRelay extends Posts {
  settle(replies: readonly RelayedReply[]): void;
}

/**
 * Makes the end of a thread that takes posts. `send` gets all posts of a turn of the event loop at
 * once: a message costs more than a post.
 */
export function createPostRelay(send: (posts: readonly RelayedPost[]) => void): PostRelay {
  const waiting = new Map<number, Waiting<PostReply>>();
  let last = 0;
  const give = together(send, setImmediate);

  return {
    post(request) {
      return new Promise((resolve, reject) => {
        give([++last, request]);
        waiting.set(last, { resolve, reject });
      });
    },
    settle(replies) {
      for (const [number, answer] of replies) {
        settleBy(answer, waiting.get(number)!);
        waiting.delete(number);
      }
    },
  };
}

/**
 * Makes the end of the thread that accepts posts: what takes them. `send` gets the replies that are
 * there at the same time at once.
 */
export function createPostTaker(
  posts: Posts,
  send: (replies: readonly RelayedReply[]) => void,
): (relayed: readonly RelayedPost[]) => void {
  // it runs once all promises of a turn have settled
  const give = together(send, process.nextTick);

  async function take([number, request]: RelayedPost): Promise<void> {
    give([number, await answerOf(() => posts.post(request))]);
  }

  return (relayed) => {
    for (const one of relayed) void take(one);
  };
}

/** Makes a function that gathers items; `send` gets them at once when `later` runs. */
function together<Item>(
  send: (items: readonly Item[]) => void,
  later: (run: () => void) => void,
): (item: Item) => void {
  let waiting: Item[] = [];
  const flush = (): void => {
    const items = waiting;
    waiting = [];
    send(items);
  };
  return (item) => {
    if (waiting.length === 0) later(flush);
    waiting.push(item);
  };
}
