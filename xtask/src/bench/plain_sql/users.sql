INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, corporation_admin, created_at, updated_at)
  SELECT md5('user' || n)::uuid, 'COMPANY', 'many-' || n || '@many.example', 'many-' || n || '@many.example', 'Grace ' || n,
         false, false, false, now(), now()
  FROM generate_series(1, 100000) AS n;
INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at)
  SELECT md5('user' || n)::uuid, kind, 'COMPANY', 0, 0, 0, 0, now()
  FROM generate_series(1, 100000) AS n, generate_series(1, 2) AS kind;
