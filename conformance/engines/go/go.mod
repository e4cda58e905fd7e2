module tokspec.example/engines

go 1.23.0
