package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/apitest"
)

// What changes a connector or a connection names the version that it was made from.
func TestSourcesAreChangedFromTheVersionThatWasRead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		put := func(status int, manifest string, headers ...string) apitest.Answer {
			t.Helper()
			a := s.Call(http.MethodPut, "/v1/connectors/books", `{"manifest":`+manifest+`}`, headers...)
			if a.Status != status {
				t.Errorf("%v: %s, want %d", headers, a, status)
			}
			return a
		}
		put(412, `{"streams":[]}`, "If-Match", "*")
		made := put(201, `{"streams":[]}`).Header.Get("ETag")
		put(428, `{"streams":[]}`)
		put(412, `{"streams":[]}`, "If-Match", `"v2"`)
		put(200, `{"streams":[]}`, "If-Match", made)
		if tag := put(200, `{"streams":[],"n":1.0}`, "If-Match", made).Header.Get("ETag"); tag != `"v2"` {
			t.Errorf("the tag is %s", tag)
		}
		put(412, `{"streams":[]}`, "If-Match", made)

		at := "/v1/connections/" + connection(s.Client, "ada")
		rename := func(status int, headers ...string) {
			t.Helper()
			if a := s.Call(http.MethodPatch, at, `{"display_name":"Ada"}`, headers...); a.Status != status {
				t.Errorf("%v: %s, want %d", headers, a, status)
			}
		}
		rename(428)
		rename(412, "If-Match", `"v2"`)
		read := s.Get(at).Header.Get("ETag")
		if a := s.Get(at, "If-None-Match", read); a.Status != http.StatusNotModified {
			t.Errorf("unchanged: %s", a)
		}
		rename(200, "If-Match", read)
		if a := s.Get(at, "If-None-Match", read); a.Status != http.StatusOK || a.Str("display_name") != "Ada" {
			t.Errorf("changed: %s", a)
		}
	})
}

func TestBadRequestsAboutSourcesAreToldByPlace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		connector(s.Client, "books")
		for _, tt := range []struct {
			method, path, body string
			status             int
			pointers           string
		}{
			{http.MethodPut, "/v1/connectors/Books", `{"manifest":{"streams":[7],"version":[]}}`, 400, "/manifest/streams/0 /manifest/version /id"},
			{http.MethodPut, "/v1/connectors/conn_1", `{"manifest":{"streams":[]}}`, 400, "/id"},
			{http.MethodPut, "/v1/connectors/a", `{"manifest":{}}`, 422, "/manifest/streams"},
			{http.MethodPut, "/v1/connectors/a", `{"manifest":{"streams":[],"x":"` + strings.Repeat("x", 256<<10) + `"}}`, 422, "/manifest"},
			{http.MethodPut, "/v1/connectors/a", `{"manifest":{"streams":[],"streams":[]}}`, 422, "/manifest/streams"},
			{http.MethodPut, "/v1/connectors/a", `{}`, 422, "/manifest"},
			{http.MethodPost, "/v1/connections", `{"connector_id":"books","source_kind":"phone","binding_key":"a\u0007","display_name":"","status":"paused"}`, 422, "/binding_key /display_name /source_kind /status"},
			{http.MethodPost, "/v1/connections", `{"connector_id":"books","binding_key":"` + strings.Repeat("é", 128) + `"}`, 422, "/binding_key"},
			{http.MethodGet, "/v1/connections", "", 400, "/limit"},
			{http.MethodGet, "/v1/connections?limit=101", "", 400, "/limit"},
			{http.MethodGet, "/v1/connections?limit=1&connector_id=a&connector_id=b", "", 400, "/connector_id"},
		} {
			a := s.Call(tt.method, tt.path, tt.body)
			var got []string
			for _, e := range a.At("errors").([]any) {
				got = append(got, e.(map[string]any)["pointer"].(string))
			}
			if diff := cmp.Diff(tt.pointers, strings.Join(got, " ")); diff != "" || a.Status != tt.status {
				t.Errorf("%s %s: %.300s (-want +got)\n%s", tt.method, tt.path, a, diff)
			}
		}
	})
}
