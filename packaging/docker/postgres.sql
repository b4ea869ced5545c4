-- Run once, by the image of PostgreSQL when it makes the database folder.
\set password `cat /run/secrets/postgres_password`
CREATE ROLE guerdon LOGIN PASSWORD :'password';
CREATE DATABASE guerdon OWNER guerdon;
-- Nobody is the superuser over the network: psql within the container needs no password.
ALTER ROLE postgres PASSWORD NULL;
