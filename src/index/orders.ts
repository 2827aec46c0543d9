import { InputError } from '../model/quote.js';
import { buildOrder, mergeOrder, type Order, type Row } from './order.js';

export interface OrderKeys {
  readonly id: Float64Array;
  readonly createdAt: Float64Array;
  readonly modifiedAt: Float64Array;
}

/** All rows by id, and by each time with ties by id. */
export interface Orders {
  readonly byId: Order;
  readonly byCreatedAt: Order;
  readonly byModifiedAt: Order;
}

/** Some 100 ms an order at 1M rows. */
export function buildOrders({ id, createdAt, modifiedAt }: OrderKeys): Orders {
  const byId = buildOrder(id);
  const byCreatedAt = buildOrder(createdAt, byId.rows);
  const byModifiedAt = buildOrder(modifiedAt, byId.rows);
  return { byId, byCreatedAt, byModifiedAt };
}

/**
 * The orders of rows that were there and of added ones, with these keys. Rows below `kept` stay what
 * they are; `rowOf` has the rows of the others, then those of the added ones.
 */
export function mergeOrders(
  { byId, byCreatedAt, byModifiedAt }: Orders,
  added: OrderKeys,
  kept: Row,
  rowOf: Uint32Array,
): Orders {
  const places = Uint32Array.from(added.id.keys()).sort((a, b) => added.id[a]! - added.id[b]!);
  const isBefore = (one: number, row: Row): boolean =>
    added.id[one]! < byId.keys[byId.ranks[row]!]!;
  const merge = (order: Order, keys: Float64Array): Order => {
    const sequence = places.slice().sort((a, b) => keys[a]! - keys[b]!);
    return mergeOrder(order, keys, kept, rowOf, isBefore, sequence);
  };
  return {
    byId: merge(byId, added.id),
    byCreatedAt: merge(byCreatedAt, added.createdAt),
    byModifiedAt: merge(byModifiedAt, added.modifiedAt),
  };
}

/** Throws an InputError where two rows have the same id. */
export function refuseRepeatedIds({ keys }: Order): void {
  for (let rank = 1; rank < keys.length; rank++) {
    if (keys[rank] === keys[rank - 1]) {
      throw new InputError(`Two records have the id ${keys[rank]}; ids must be unique.`);
    }
  }
}
