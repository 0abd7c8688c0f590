package web_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

type document struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Parameters  []struct {
			Name string `json:"name"`
			In   string `json:"in"`
		} `json:"parameters"`
		RequestBody *struct {
			Required bool `json:"required"`
			Content  map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				} `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
		Responses map[string]struct {
			Description string `json:"description"`
			Content     map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				} `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
		Security []map[string][]string `json:"security"`
	} `json:"paths"`
	Components struct {
		Schemas         map[string]json.RawMessage `json:"schemas"`
		SecuritySchemes map[string]any             `json:"securitySchemes"`
	} `json:"components"`
}

func (e *edge) document(t *testing.T) (document, string) {
	t.Helper()
	got := e.do(t, "GET", "/openapi.json", "", "Authorization", "")
	var doc document
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil || got.Status != 200 {
		t.Fatalf("status %d: %v", got.Status, err)
	}
	return doc, got.body
}

func TestTheDocumentHasTheRealTypes(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	doc, text := e.document(t)
	post := doc.Paths["/v1/things"]["post"]
	if doc.OpenAPI != "3.1.0" || post.OperationID != "create-thing" || !post.RequestBody.Required {
		t.Errorf("openapi %s, operation %s", doc.OpenAPI, post.OperationID)
	}
	const schemas = "#/components/schemas/"
	if ref := post.RequestBody.Content["application/json"].Schema.Ref; ref != schemas+"ThingBody" {
		t.Errorf("body %s", ref)
	}
	if ref := post.Responses["201"].Content["application/json"].Schema.Ref; ref != schemas+"Created" {
		t.Errorf("answer %s", ref)
	}
	if ref := doc.Paths["/v1/things"]["get"].Responses["200"].Content["application/json"].Schema.Ref; ref != schemas+"ThingPage" {
		t.Errorf("page %s", ref)
	}
	if post.Parameters[0].Name != "Idempotency-Key" || post.Parameters[0].In != "header" {
		t.Errorf("parameters %v", post.Parameters)
	}
	if len(doc.Paths["/v1/secrets"]["post"].Parameters) != 0 {
		t.Error("a route without keys documents one")
	}
	if !slices.Equal(post.Security[0]["bearer"], []string{web.ScopeJobsEnqueue}) || doc.Components.SecuritySchemes["bearer"] == nil {
		t.Errorf("security %v", post.Security)
	}
	for status, code := range map[string]string{
		"400": "invalid_json", "401": "unauthorized", "403": "forbidden", "404": "not_found", "409": "idempotency_in_flight",
		"413": "body_too_large", "415": "unsupported_media_type", "422": "validation_failed", "500": "internal", "503": "commit_unknown",
	} {
		answer := post.Responses[status]
		if !strings.Contains(answer.Description, code) || answer.Content["application/problem+json"].Schema.Ref != schemas+"Problem" {
			t.Errorf("%s: %v", status, answer)
		}
	}
	var thing struct {
		Properties map[string]struct {
			Type   any    `json:"type"`
			Format string `json:"format"`
		} `json:"properties"`
		AdditionalProperties bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal(doc.Components.Schemas["Thing"], &thing); err != nil {
		t.Fatal(err)
	}
	if at := thing.Properties["at"]; at.Format != "date-time" || thing.Properties["payload"].Type != nil {
		t.Errorf("thing %s", doc.Components.Schemas["Thing"])
	}
	if strings.Contains(text, "$schema") || strings.Contains(text, `["array","null"]`) || strings.Contains(text, "base64") {
		t.Error("the document has schema links, nullable arrays or base64 payloads")
	}
}

func TestTheDocumentIsServedInOpenAPI30(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	got := e.do(t, "GET", "/openapi-3.0.json", "", "Authorization", "")
	var doc document
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil || got.Status != 200 || doc.OpenAPI != "3.0.3" {
		t.Fatalf("status %d, openapi %q: %v", got.Status, doc.OpenAPI, err)
	}
	for _, newer := range []string{`"null"`, "patternDescription", `"examples"`} {
		if strings.Contains(got.body, newer) {
			t.Errorf("the document in 3.0 has %s", newer)
		}
	}
}

func TestDocumentIsStable(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	first, err := e.Document()
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.Document()
	if err != nil || string(first) != string(again) || !strings.HasSuffix(string(first), "}\n") {
		t.Errorf("the document changes from call to call: %v", err)
	}
}

func TestPagesNeedNoNetworkAndNoInlineScript(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<script>|<style|\son[a-z]+=|style=|javascript:|innerHTML|eval\(`)
	outside := regexp.MustCompile(`(?:https?:)?//[a-z0-9]+\.`)
	err := fs.WalkDir(os.DirFS("docs"), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile("docs/" + path)
		if inline.Match(b) || outside.Match(b) {
			t.Errorf("%s: %s%s", path, inline.Find(b), outside.Find(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDocsAndProblemPagesNeedNoToken(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for path, media := range map[string]string{
		"/docs": "text/html", "/docs/docs.js": "text/javascript", "/docs/docs.css": "text/css", "/problems": "text/html",
	} {
		got := e.do(t, "GET", path, "", "Authorization", "")
		if got.Status != 200 || !strings.HasPrefix(got.Header.Get("Content-Type"), media) || got.body == "" {
			t.Errorf("%s: status %d, %s", path, got.Status, got.Header.Get("Content-Type"))
		}
	}
	for _, c := range fault.Codes {
		got := e.do(t, "GET", "/problems/"+c.Code, "", "Authorization", "")
		if got.Status != 200 || !strings.Contains(got.body, "<h1>"+c.Title+"</h1>") {
			t.Errorf("%s: status %d", c.Code, got.Status)
		}
	}
}

func TestBadRoutesDoNotStart(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for name, op := range map[string]web.Op{
		"no scope":      {Method: "GET", Path: "/v1/x", ID: "x"},
		"unknown scope": {Method: "GET", Path: "/v1/x", ID: "x", Scope: "x"},
		"unlisted code": {Method: "GET", Path: "/v1/x", ID: "x", Scope: web.AnyToken, Faults: []string{"x"}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			web.Read(e.API, op, e.broken)
		}()
	}
}
