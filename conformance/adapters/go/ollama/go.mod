module tokspec.example/adapters/ollama

go 1.24.1

require (
	github.com/ollama/ollama v0.17.4
	tokspec.example/adapters v0.0.0
)

require (
	github.com/dlclark/regexp2 v1.11.4 // indirect
	github.com/emirpasic/gods/v2 v2.0.0-alpha // indirect
)

replace tokspec.example/adapters => ../
