module client

go 1.23
