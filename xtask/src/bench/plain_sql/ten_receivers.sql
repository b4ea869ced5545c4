\set s random(1, 10000)
\set r random(1, 990)
\set a random(1, 9223372036854775000)
BEGIN;
UPDATE wallets SET cents = cents - 1000, spent = spent + 1000 WHERE id = uid('pw', :s) AND cents >= 1000;
UPDATE wallets SET cents = cents + 100 WHERE id IN (SELECT id FROM wallets WHERE id = ANY (ARRAY(SELECT uid('uw', :r::int + 991 * i) FROM generate_series(0, 9) i)) ORDER BY id FOR NO KEY UPDATE);
INSERT INTO wallet_transactions (wallet_id, kind, cents, reason, recognition_id, created_at) SELECT uid('pw', :s), 0, 100, 0, uid('r', :a::bigint + i), now() FROM generate_series(0, 9) i UNION ALL SELECT uid('uw', :r::int + 991 * i), 1, 100, 0, uid('r', :a::bigint + i), now() FROM generate_series(0, 9) i;
INSERT INTO recognitions SELECT uid('r', :a::bigint + i), uid('c', 1), 0, uid('u', :s), uid('u', :r::int + 991 * i), uid('o', 1), 100, 50, 'Thank you for the help', true, now() FROM generate_series(0, 9) i;
INSERT INTO outbox (id, provider_id, payload, next_attempt_at) SELECT uid('e', :a::bigint + i), uid('p', 1), payload(), now() FROM generate_series(0, 9) i;
COMMIT;
