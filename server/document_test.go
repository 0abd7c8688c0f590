// What tools of others need of the API's document. That it is valid OpenAPI is checked by make check-documents.
package server_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// A later build may add members to answers, so that no schema of one is closed; that of a request is.
func TestAnswersAreOpenAndSchemasHaveNames(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]map[string]any
		}
		Paths map[string]map[string]map[string]any
	}
	if err := json.Unmarshal(read(t, "../gen/openapi.json"), &document); err != nil {
		t.Fatal(err)
	}
	ofAnswers := map[string]bool{}
	for _, methods := range document.Paths {
		for _, operation := range methods {
			reach(ofAnswers, operation["responses"], document.Components.Schemas)
		}
	}
	if len(ofAnswers) < 20 {
		t.Fatalf("only %d schemas of answers were found", len(ofAnswers))
	}
	word := regexp.MustCompile(`^[A-Z][a-z]*([A-Z]+[a-z]*)*$`)
	for name, schema := range document.Components.Schemas {
		if !word.MatchString(name) || strings.HasSuffix(name, "Struct") {
			t.Errorf("the schema %q has no name of its own: name its Go type", name)
		}
		if closed := schema["additionalProperties"] == false; closed == ofAnswers[name] {
			t.Errorf("the schema %s is closed: %v, and of an answer: %v", name, closed, ofAnswers[name])
		}
	}
}

// reach notes the schemas that node refers to, and those that they refer to.
func reach(found map[string]bool, node any, schemas map[string]map[string]any) {
	switch node := node.(type) {
	case map[string]any:
		ref, _ := node["$ref"].(string)
		if name, ok := strings.CutPrefix(ref, "#/components/schemas/"); ok && !found[name] {
			found[name] = true
			reach(found, map[string]any(schemas[name]), schemas)
		}
		for _, below := range node {
			reach(found, below, schemas)
		}
	case []any:
		for _, below := range node {
			reach(found, below, schemas)
		}
	}
}
