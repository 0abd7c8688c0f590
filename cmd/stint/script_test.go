package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
)

// Scripts are what a person types, each as an owner of its own on each engine.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			testscript.RunT(scriptT{t}, testscript.Params{
				Dir: "testdata/script",
				Setup: func(env *testscript.Env) error {
					t := env.T().(scriptT).T
					s := of(t, apitest.Shared(t, engine))
					env.Setenv("PATH", os.Getenv("PATH"))
					env.Setenv("NEW_OWNER", apitest.Unique("script"))
					env.Setenv("STINT_SERVER", s.Base())
					env.Setenv("STINT_TOKEN", s.Token)
					env.Setenv("STINT_DB", s.db)
					env.Setenv("EMPTY_DB", dbtest.Empty(t, engine))
					return nil
				},
			})
		})
	}
}

// scriptT is a test to testscript, and the test itself to Setup.
type scriptT struct{ *testing.T }

func (t scriptT) Run(name string, fn func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { fn(scriptT{t}) })
}

func (t scriptT) Verbose() bool { return testing.Verbose() }
