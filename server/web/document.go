package web

import (
	"encoding/json"
	"fmt"
)

// Document is the OpenAPI 3.1 document, indented and ending in a newline.
func (a *API) Document() ([]byte, error) { return indented(a.huma.OpenAPI()) }

// Document30 is the document in OpenAPI 3.0, for generators that read no newer one.
func (a *API) Document30() ([]byte, error) {
	b, err := a.huma.OpenAPI().Downgrade()
	if err != nil {
		return nil, fmt.Errorf("downgrade the API document: %w", err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		return nil, fmt.Errorf("read the downgraded API document: %w", err)
	}
	only30(tree)
	return indented(tree)
}

func indented(document any) ([]byte, error) {
	b, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the API document: %w", err)
	}
	return append(b, '\n'), nil
}

// only30 takes out what OpenAPI 3.0 does not know: keywords of one's own, and others
// beside a reference.
func only30(tree any) {
	switch node := tree.(type) {
	case map[string]any:
		delete(node, "patternDescription")
		if ref, ok := node["$ref"]; ok && len(node) > 1 {
			delete(node, "$ref")
			node["allOf"] = []any{map[string]any{"$ref": ref}}
		}
		for _, below := range node {
			only30(below)
		}
	case []any:
		for _, below := range node {
			only30(below)
		}
	}
}
