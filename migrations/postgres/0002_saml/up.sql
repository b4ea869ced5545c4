CREATE TABLE saml_settings (
  company_id uuid NOT NULL PRIMARY KEY REFERENCES companies (id),
  idp_id text CHECK (length(idp_id) BETWEEN 1 AND 1024),
  idp_url text CHECK (length(idp_url) <= 2048),
  idp_certificate text CHECK (length(idp_certificate) <= 65536),
  active boolean NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT active_is_complete CHECK (
    NOT active OR (idp_id IS NOT NULL AND idp_url IS NOT NULL AND idp_certificate IS NOT NULL)
  )
);

-- Pages of active users and of occasions walk an index of their own.
CREATE INDEX users_active ON users (company_id, created_at, id) WHERE deleted_at IS NULL;
DROP INDEX users_company;
DROP INDEX occasions_company;
CREATE INDEX occasions_company ON occasions (company_id, created_at, id) WHERE deleted_at IS NULL;
