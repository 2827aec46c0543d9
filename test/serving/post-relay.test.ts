import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PostReply, PostRequest } from '../../src/posts/posts.js';
import {
  createPostRelay,
  createPostTaker,
  type RelayedPost,
  type RelayedReply,
} from '../../src/serving/messages.js';

function request(user: number): PostRequest {
  return { draft: { problems: {} }, user, address: '', key: undefined, upload: undefined };
}

function reply(id: number): PostReply {
  return { kind: 'accepted', id, sequence: 1, record: '{}' };
}

test('posts of one turn go in one message, and so do replies; each finds its post', async () => {
  const sent: (readonly RelayedPost[])[] = [];
  const answered: (readonly RelayedReply[])[] = [];
  const take = createPostTaker(
    {
      // the later ones are ready first
      async post({ user }) {
        for (let i = 0; i < 10 - user!; i++) await undefined;
        if (user === 2) throw new Error('no room');
        return reply(user!);
      },
    },
    (replies) => {
      answered.push(replies);
      relay.settle(replies);
    },
  );
  const relay = createPostRelay((posts) => {
    sent.push(posts);
    take(posts);
  });
  const all = Promise.allSettled([1, 2, 3].map((user) => relay.post(request(user))));
  assert.is(sent.length, 0, 'nothing leaves within the turn');
  const [first, second, third] = await all;
  assert.equal(first, { status: 'fulfilled', value: reply(1) });
  assert.is((second as PromiseRejectedResult).reason.message, 'no room');
  assert.equal(third, { status: 'fulfilled', value: reply(3) });
  assert.equal([sent.length, sent[0]!.length], [1, 3]);
  assert.equal([answered.length, answered[0]!.length], [1, 3]);
  assert.equal(
    answered[0]!.map(([number]) => number),
    [3, 2, 1],
  );

  await relay.post(request(4));
  assert.is(sent.length, 2, 'the next turn has a message of its own');
});

test.run();
