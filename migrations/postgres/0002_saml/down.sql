DROP INDEX occasions_company;
CREATE INDEX occasions_company ON occasions (company_id, created_at, id);
CREATE INDEX users_company ON users (company_id, created_at, id);
DROP INDEX users_active;
DROP TABLE saml_settings;
