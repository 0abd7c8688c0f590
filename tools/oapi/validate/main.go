// Command validate reads the API's documents as tools of others do: OpenAPI 3.1 by its official
// schema, and its schemas by that of JSON Schema 2020-12; OpenAPI 3.0 by kin-openapi. It prints
// every fault and exits with 1.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const jsonSchema = "https://json-schema.org/draft/2020-12/schema"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: validate OPENAPI-3.1-FILE OPENAPI-3.0-FILE")
		os.Exit(2)
	}
	if err := errors.Join(faultsOf31(os.Args[1]), faultsOf30(os.Args[2])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func faultsOf31(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	official, err := openAPI31()
	if err != nil {
		return err
	}
	if err := official.Validate(document); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return faultsOfSchemas(path, document)
}

func openAPI31() (*jsonschema.Schema, error) {
	official, err := jsonschema.UnmarshalJSON(strings.NewReader(datamodel.OpenAPI31SchemaData))
	if err != nil {
		return nil, fmt.Errorf("read the schema of OpenAPI 3.1: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi-3.1", official); err != nil {
		return nil, err
	}
	return c.Compile("openapi-3.1")
}

// faultsOfSchemas are those of the document's schemas, which its own schema leaves open.
func faultsOfSchemas(path string, document any) error {
	c := jsonschema.NewCompiler()
	meta, err := c.Compile(jsonSchema)
	if err != nil {
		return err
	}
	components, _ := document.(map[string]any)["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	if len(schemas) == 0 {
		return fmt.Errorf("%s has no schemas", path)
	}
	var faults []error
	for name, schema := range schemas {
		if err := meta.Validate(schema); err != nil {
			faults = append(faults, fmt.Errorf("%s: schema %s: %w", path, name, err))
		}
	}
	return errors.Join(faults...)
}

func faultsOf30(path string) error {
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromFile(path)
	if err == nil {
		err = document.Validate(loader.Context)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
