UPDATE plain.accounts SET balance = balance + 10000000, entry_count = entry_count + 1
  WHERE company_id = 'COMPANY' AND kind = 1;
INSERT INTO plain.transfers (journal_entry_id, leg, company_id, debit_owner, debit_kind, debit_sequence, credit_owner, credit_kind,
    credit_sequence, amount, points, points_per_dollar, reason, created_at)
  SELECT c.id, row_number() OVER (), 'COMPANY', 'COMPANY', 4, c.before + row_number() OVER (), a.owner_id, 1, a.entry_count,
         10000000, 1, 100, 3, now()
  FROM plain.accounts AS a,
       (SELECT gen_random_uuid() AS id, COALESCE(max(debit_sequence), 0) AS before FROM plain.transfers
        WHERE debit_owner = 'COMPANY' AND debit_kind = 4) AS c
  WHERE a.company_id = 'COMPANY' AND a.kind = 1;
