CREATE SCHEMA IF NOT EXISTS plain;
CREATE TABLE IF NOT EXISTS plain.accounts (LIKE public.accounts INCLUDING ALL) WITH (fillfactor = 70);
CREATE TABLE IF NOT EXISTS plain.transfers (LIKE public.transfers INCLUDING ALL);
INSERT INTO plain.accounts SELECT * FROM public.accounts WHERE company_id = 'COMPANY' ON CONFLICT DO NOTHING;
