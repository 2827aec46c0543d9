-- The tables of a journal in PostgreSQL, version 1. All batches wait for the one row of `state`, whose
-- lock lasts until their commit: sequences are committed in their order.

CREATE TABLE waypost.state (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version int NOT NULL,
  name text NOT NULL,
  branch int NOT NULL DEFAULT 0,
  last_sequence bigint NOT NULL DEFAULT 0,
  last_batch text NOT NULL DEFAULT '',
  last_time bigint NOT NULL DEFAULT 0,
  pruned bigint NOT NULL DEFAULT 0,
  least_id bigint NOT NULL DEFAULT 1
);
CREATE TABLE waypost.posts (
  sequence bigint PRIMARY KEY,
  id bigint NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  record text NOT NULL,
  key text UNIQUE,
  body text,
  batch text NOT NULL,
  moved_from bigint,
  moved_to bigint
);
CREATE INDEX posts_batch ON waypost.posts (batch);
CREATE TABLE waypost.instances (
  name text PRIMARY KEY,
  watermark bigint NOT NULL,
  sequence bigint NOT NULL,
  seen_at timestamptz NOT NULL
);
CREATE SEQUENCE waypost.ids INCREMENT BY 64;

-- A batch that is there already is only looked up: whoever is in doubt sends it again.
CREATE FUNCTION waypost.append(batch_name text, given json)
RETURNS SETOF waypost.posts LANGUAGE plpgsql
-- by the indexes also while no statistics say how large the table is
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
  head waypost.state;
  added bigint;
BEGIN
  UPDATE waypost.state SET one = true RETURNING * INTO STRICT head;
  IF NOT EXISTS (SELECT FROM waypost.posts p WHERE p.batch = batch_name) THEN
    INSERT INTO waypost.posts (sequence, id, created_at, record, key, body, batch)
    SELECT head.last_sequence + row_number() OVER (ORDER BY g.at),
      g.id, g.created_at, g.record, g.key, g.body, batch_name
    FROM json_to_recordset(given)
      AS g(at int, id bigint, created_at bigint, record text, key text, body text)
    WHERE g.id >= head.least_id
      AND NOT EXISTS (SELECT FROM waypost.posts p WHERE p.id = g.id)
      AND NOT EXISTS (SELECT FROM waypost.posts p WHERE p.key = g.key);
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added > 0 THEN
      UPDATE waypost.state SET
        last_sequence = head.last_sequence + added,
        last_batch = batch_name,
        last_time = greatest(head.last_time,
          (SELECT max(p.created_at) FROM waypost.posts p WHERE p.batch = batch_name));
      PERFORM pg_notify('waypost', '');
    END IF;
  END IF;
  RETURN QUERY
    SELECT p.sequence, p.id, p.created_at, '', NULL, NULL, p.batch, NULL::bigint, NULL::bigint
      FROM waypost.posts p WHERE p.batch = batch_name
    UNION ALL SELECT p.* FROM json_to_recordset(given) AS g(key text)
      JOIN waypost.posts p ON p.key = g.key AND p.batch <> batch_name;
END $$;

-- A post that moves becomes a row of its own; the old one stays, without its key.
CREATE FUNCTION waypost.move(batch_name text, given json)
RETURNS SETOF waypost.posts LANGUAGE plpgsql AS $$
DECLARE
  head waypost.state;
  g record;
  old waypost.posts;
  next bigint;
BEGIN
  UPDATE waypost.state SET one = true RETURNING * INTO STRICT head;
  next := head.last_sequence;
  FOR g IN SELECT * FROM json_to_recordset(given) AS (sequence bigint, id bigint, record text)
  LOOP
    SELECT * INTO old FROM waypost.posts p
      WHERE p.sequence = g.sequence AND p.moved_to IS NULL;
    CONTINUE WHEN NOT FOUND;
    next := next + 1;
    UPDATE waypost.posts p SET moved_to = next, key = NULL, body = NULL
      WHERE p.sequence = g.sequence;
    INSERT INTO waypost.posts VALUES (next, g.id, old.created_at, g.record, old.key, old.body,
      batch_name, coalesce(old.moved_from, old.id), NULL);
  END LOOP;
  IF next > head.last_sequence THEN
    UPDATE waypost.state SET last_sequence = next, last_batch = batch_name;
    PERFORM pg_notify('waypost', '');
  END IF;
  RETURN QUERY SELECT p.* FROM waypost.posts p WHERE p.batch = batch_name;
END $$;

-- Removes what every instance that was there within an hour has in its snapshot.
CREATE FUNCTION waypost.prune(through bigint, before_time bigint)
RETURNS TABLE (pruned bigint, removed bigint, contained bigint) LANGUAGE plpgsql AS $$
DECLARE
  head waypost.state;
  young bigint;
BEGIN
  UPDATE waypost.state SET one = true RETURNING * INTO STRICT head;
  SELECT coalesce(min(i.watermark), 0) INTO contained FROM waypost.instances i
    WHERE i.seen_at > now() - interval '1 hour';
  SELECT min(p.sequence) INTO young FROM waypost.posts p WHERE p.created_at >= before_time;
  pruned := greatest(head.pruned,
    least(through, contained, head.last_sequence, coalesce(young - 1, head.last_sequence)));
  DELETE FROM waypost.posts p WHERE p.sequence <= prune.pruned;
  GET DIAGNOSTICS removed = ROW_COUNT;
  UPDATE waypost.state s SET pruned = prune.pruned;
  RETURN NEXT;
END $$;

-- Under the lock of the state, so that ids are never put back.
CREATE FUNCTION waypost.give_ids_from(from_id bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE waypost.state SET least_id = greatest(least_id, from_id);
  -- never into a block that an instance has
  PERFORM setval('waypost.ids', from_id, false) FROM waypost.ids
    WHERE last_value + CASE WHEN is_called THEN 64 ELSE 0 END < from_id;
END $$;
