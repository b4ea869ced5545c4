\set s random(1, 10000)
\set r random(1, 10000)
\set a random(1, 9223372036854775806)
BEGIN;
UPDATE wallets SET cents = cents - 100, spent = spent + 100 WHERE id = uid('rw', 0) AND cents >= 100;
UPDATE wallets SET cents = cents + 100 WHERE id = uid('uw', :r);
INSERT INTO wallet_transactions (wallet_id, kind, cents, reason, recognition_id, created_at) VALUES (uid('rw', 0), 0, 100, 0, uid('r', :a), now()), (uid('uw', :r), 1, 100, 0, uid('r', :a), now());
INSERT INTO recognitions VALUES (uid('r', :a), uid('c', 1), 1, uid('c', 0), uid('u', :r), uid('o', 1), 100, 50, 'Thank you for the help', true, now());
INSERT INTO outbox (id, provider_id, payload, next_attempt_at) VALUES (uid('e', :a), uid('p', 1), payload(), now());
COMMIT;
