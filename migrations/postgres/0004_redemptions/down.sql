DROP TABLE redemptions;
