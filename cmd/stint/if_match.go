package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
)

// ifMatch is the ETag of the version that a person looked at.
type ifMatch string

func (m *ifMatch) add(cmd *cobra.Command) {
	cmd.Flags().StringVar((*string)(m), "if-match", "", "ETag of the version that you looked at, such as v3 (default: whatever it is now)")
}

// orRead is the ETag that a change is to name: the one that was given, else that of
// the resource as it is now.
func (m ifMatch) orRead(get func() (*http.Response, error)) (string, error) {
	switch {
	case m == "":
		present, err := api.Answer[json.RawMessage](get())
		return present.Header.Get("ETag"), err
	case !strings.ContainsAny(string(m), `"*`):
		return `"` + string(m) + `"`, nil // shells take quotes off
	}
	return string(m), nil
}
