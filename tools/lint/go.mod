// The linter is staticcheck alone, beside go vet and the house rules of tools/house: its checks are
// about mistakes, not taste, and with five modules it builds cold in about half a minute. The wide
// choice, golangci-lint, has a module graph of 399 and was not built after eight minutes on two busy
// cores, for linters of which most would be switched off.
module github.com/stint-run/stint/tools/lint

go 1.26.0

tool honnef.co/go/tools/cmd/staticcheck

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	honnef.co/go/tools v0.8.2 // indirect
)
