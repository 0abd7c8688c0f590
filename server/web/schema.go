package web

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/schema/coltype"
)

func init() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.NewErrorWithContext = humaError
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return humaError(nil, status, msg, errs...)
	}
}

// humaConfig is huma without its own docs, schema links and text formats.
func (a *API) humaConfig(version string) huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	registry.RegisterTypeAlias(reflect.TypeFor[coltype.Time](), reflect.TypeFor[time.Time]())
	registry.RegisterTypeAlias(reflect.TypeFor[coltype.JSON](), reflect.TypeFor[json.RawMessage]())
	format := huma.Format{Marshal: marshalProblem, Unmarshal: json.Unmarshal}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:       "Stint",
				Version:     version,
				Description: "The system of record for unattended work: a queue, a ledger of runs, and what they left behind.",
			},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"bearer": {Type: "http", Scheme: "bearer", Description: "A token: Authorization: Bearer stint_…"},
				},
			},
		},
		Formats:       map[string]huma.Format{jsonType: format, "json": format},
		DefaultFormat: jsonType,
	}
}

// schema is the schema of a type, under a name where the type deserves one.
func (a *API) schema(t reflect.Type, hint string) *huma.Schema {
	return a.huma.OpenAPI().Components.Schemas.Schema(t, true, pascal(hint))
}

// schemaName names schemas by noun: jobs.jobJSON is Job, Page[jobJSON] is
// JobPage, an unnamed type has the name of its operation.
func schemaName(t reflect.Type, hint string) string {
	name := t.Name()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
		name = t.Name()
	}
	if name == "" {
		return huma.DefaultSchemaNamer(t, hint)
	}
	outer, inner, generic := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if !generic {
		return noun(name)
	}
	return noun(inner) + noun(outer)
}

func noun(name string) string {
	name = name[strings.LastIndexAny(name, "./")+1:]
	name = strings.TrimSuffix(name, "JSON")
	return strings.ToUpper(name[:1]) + name[1:]
}

func pascal(kebab string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(kebab, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		b.WriteString(noun(word))
	}
	return b.String()
}
