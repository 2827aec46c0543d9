import { buildCrossTable, type CrossTable, type CrossView } from './cross-table.js';
import { buildOrder, type Order } from './order.js';

/** The keys of all rows, by which they are put in order. */
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
  readonly crossTables: {
    readonly idCreatedAt: CrossTable;
    readonly idModifiedAt: CrossTable;
    readonly createdAtModifiedAt: CrossTable;
  };
}

/**
 * Sorts the rows in each of the orders; some 100 ms an order at 1M rows, and 7 ms a cross table.
 */
export function buildOrders({ id, createdAt, modifiedAt }: OrderKeys): Orders {
  const byId = buildOrder(id);
  const byCreatedAt = buildOrder(createdAt, byId.rows);
  const byModifiedAt = buildOrder(modifiedAt, byId.rows);
  const crossTables = {
    idCreatedAt: buildCrossTable(byId, byCreatedAt),
    idModifiedAt: buildCrossTable(byId, byModifiedAt),
    createdAtModifiedAt: buildCrossTable(byCreatedAt, byModifiedAt),
  };
  return { byId, byCreatedAt, byModifiedAt, crossTables };
}

/** The cross table of two different orders, looked along the one. */
export function crossViewOf(orders: Orders, along: Order, other: Order): CrossView {
  const { byId, byCreatedAt, byModifiedAt, crossTables } = orders;
  const { idCreatedAt, idModifiedAt, createdAtModifiedAt } = crossTables;
  const isWith = (one: Order): boolean => along === one || other === one;
  if (!isWith(byId)) return { table: createdAtModifiedAt, isTurned: along === byModifiedAt };
  const table = isWith(byCreatedAt) ? idCreatedAt : idModifiedAt;
  return { table, isTurned: along !== byId };
}
