import type { PostReply, PostRequest, Posts } from '../live/posts/posts.js';

/** A post that another thread took, and the number by which that thread knows it. */
export type RelayedPost = readonly [number: number, request: PostRequest];

/** What became of a question. */
export type Answer<Value> = { readonly value: Value } | { readonly error: unknown };

/** What became of a relayed post. */
export type RelayedReply = readonly [number: number, answer: Answer<PostReply>];

/** The end of a relay that takes posts and hands them on. */
export interface PostRelay extends Posts {
  settle(replies: readonly RelayedReply[]): void;
}

interface Waiting {
  resolve(reply: PostReply): void;
  reject(error: unknown): void;
}

/**
 * Makes the end of a thread that takes posts. `send` gets all posts of a turn of the event loop at
 * once: a message costs more than a post.
 */
export function createPostRelay(send: (posts: readonly RelayedPost[]) => void): PostRelay {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let posts: RelayedPost[] = [];

  function flush(): void {
    const taken = posts;
    posts = [];
    send(taken);
  }

  return {
    post(request) {
      return new Promise((resolve, reject) => {
        if (posts.length === 0) setImmediate(flush);
        posts.push([++last, request]);
        waiting.set(last, { resolve, reject });
      });
    },
    settle(replies) {
      for (const [number, answer] of replies) {
        const { resolve, reject } = waiting.get(number)!;
        waiting.delete(number);
        if ('error' in answer) reject(answer.error);
        else resolve(answer.value);
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
  let replies: RelayedReply[] = [];

  function flush(): void {
    const made = replies;
    replies = [];
    send(made);
  }

  async function take([number, request]: RelayedPost): Promise<void> {
    let answer: Answer<PostReply>;
    try {
      answer = { value: await posts.post(request) };
    } catch (error) {
      answer = { error };
    }
    // it runs once all promises of this turn have settled
    if (replies.length === 0) process.nextTick(flush);
    replies.push([number, answer]);
  }

  return (relayed) => {
    for (const one of relayed) void take(one);
  };
}
