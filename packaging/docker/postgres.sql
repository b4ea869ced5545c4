-- The PostgreSQL image runs this once, when it initializes the data folder.
\set password `cat /run/secrets/postgres_password`
CREATE ROLE guerdon LOGIN PASSWORD :'password';
CREATE DATABASE guerdon OWNER guerdon;
-- The superuser cannot log in over the network; psql inside the container needs no password.
ALTER ROLE postgres PASSWORD NULL;
