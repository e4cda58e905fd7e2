module tokspec.example/tokspec

go 1.23.0
