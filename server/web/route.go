package web

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/stint-run/stint/server/fault"
)

// route is what the middleware knows about a route of the API.
type route struct {
	op       Op
	params   map[string]*huma.Param // of the query
	headers  map[string]*huma.Param
	names    string // of the query's parameters, for the message
	schema   *huma.Schema
	needBody bool
}

// newRoute reads from the document what the middleware checks.
func newRoute(op Op, doc *huma.Operation) *route {
	rt := &route{op: op, params: map[string]*huma.Param{}, headers: map[string]*huma.Param{}}
	var names []string
	for _, p := range doc.Parameters {
		switch p.In {
		case "query":
			if p.Schema.Type == huma.TypeArray && (p.Explode == nil || !*p.Explode) {
				panic("web: " + op.Path + ": set " + p.Name + " needs `query:\"" + p.Name + ",explode\"`")
			}
			rt.params[p.Name] = p
			names = append(names, p.Name)
		case "header":
			rt.headers[http.CanonicalHeaderKey(p.Name)] = p
		}
	}
	rt.names = strings.Join(names, ", ")
	if body := doc.RequestBody; body != nil {
		rt.schema = body.Content[jsonType].Schema
		rt.needBody = body.Required
	}
	return rt
}

// routerPath is a pattern as the router spells it.
func routerPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// operation finds what huma documents for a method of a path.
func operation(item *huma.PathItem, method string) *huma.Operation {
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	}
	panic("web: method " + method + " is not one of the API's")
}

// bindRoute notes the route that the router found, and decodes its parameters.
// The router lets a last parameter run over slashes, so those are refused here.
func (a *API) bindRoute(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		s := stateOf(c.Request().Context())
		s.pattern = c.Path()
		s.route = a.routes[c.Request().Method+" "+c.Path()]
		values := c.ParamValues()
		for i, raw := range values {
			v, err := url.PathUnescape(raw)
			if err != nil || strings.Contains(raw, "/") || !nameable(v) {
				return fault.NotFound()
			}
			values[i] = v
		}
		c.SetParamValues(values...)
		return next(c)
	}
}

// nameable reports whether a row can be named so.
func nameable(v string) bool {
	return v != "" && len(v) <= 255 && utf8.ValidString(v) && !strings.Contains(v, "\x00")
}

// routerError answers what the router itself refuses.
func (a *API) routerError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var refused *echo.HTTPError
	if errors.As(err, &refused) {
		err = fault.NotFound()
		if refused.Code == http.StatusMethodNotAllowed {
			err = fault.MethodNotAllowed()
			allowHead(c.Response().Header())
		}
	}
	a.fail(c.Response(), c.Request(), err)
}

func allowHead(h http.Header) {
	if allow := h.Get("Allow"); strings.Contains(allow, http.MethodGet) {
		h.Set("Allow", allow+", "+http.MethodHead)
	}
}

// bodyType is the type of an input's Body field, or nil.
func bodyType(in reflect.Type) reflect.Type {
	if f, ok := in.FieldByName("Body"); ok {
		return f.Type
	}
	return nil
}
