import type { Upload } from '../media/upload.js';
import type { Draft, Refused } from '../model/draft.js';
import type { PostKey } from './journal.js';

/** A point that a client wants to be accepted. Plain data: threads pass it on. */
export interface PostRequest {
  /** Problems where fields are wrong and there is an image, which may be wrong, too. */
  readonly draft: Draft | Refused;
  /** Whose token came with it. */
  readonly user: number | undefined;
  /** By which its client is counted. */
  readonly address: string;
  /** What makes the same post count once. */
  readonly key: PostKey | undefined;
  /** The image, as it came; whoever asks removes it afterwards. */
  readonly upload: Upload | undefined;
}

/** A point that was accepted. */
export interface Acknowledged {
  readonly id: number;
  /** Its JSON. */
  readonly record: string;
  /** Of the journal: whoever has this one or a later one has the point. */
  readonly sequence: number;
}

/** What became of a post. Plain data: threads pass it on. */
export type PostReply =
  /** Durable, and visible to every request that begins from now on. */
  | ({ readonly kind: 'accepted' } & Acknowledged)
  /** The key was used before, with the same body, for this record. */
  | ({ readonly kind: 'replayed' } & Acknowledged)
  | (Refused & { readonly kind: 'refused' })
  /** The key was used before, with another body. */
  | { readonly kind: 'key_reused' }
  /** The point could not be stored; nothing of it is visible. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Takes posts, on whichever thread. */
export interface Posts {
  post(request: PostRequest): Promise<PostReply>;
}
