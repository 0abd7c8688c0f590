package web

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/fault"
)

// checkParams collects what is wrong with the query and the declared headers:
// unknown and repeated parameters, parameters without a value, text that no
// engine may see. Types and bounds are huma's.
func (a *API) checkParams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := stateOf(r.Context()); s.route != nil {
			s.checkQuery(r.URL.RawQuery)
			s.checkHeaders(r.Header)
		}
		next.ServeHTTP(w, r)
	})
}

func (s *request) checkQuery(raw string) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		s.add(fault.Item{In: fault.InQuery, Detail: "the query is not well-formed"})
	}
	for name, given := range values {
		item := fault.Item{In: fault.InQuery, Pointer: pointerTo(name)}
		p := s.route.params[name]
		switch {
		case p == nil && s.route.names == "":
			item.Detail = "no such parameter; this route has none"
		case p == nil:
			item.Detail = "no such parameter; there are: " + s.route.names
		case len(given) > 1 && p.Schema.Type != huma.TypeArray:
			item.Detail = "the parameter is given more than once"
		default:
			item.Detail = badParam(p, given)
		}
		if item.Detail != "" {
			s.add(item)
		}
	}
}

// badParam says what is wrong with the text of a parameter's values.
func badParam(p *huma.Param, given []string) string {
	seen := map[string]bool{}
	for _, v := range given {
		switch {
		case v == "":
			return "the parameter has no value"
		case !utf8.ValidString(v):
			return "the value is not UTF-8"
		case strings.Contains(v, "\x00"):
			return "the value contains NUL"
		case seen[v]:
			return "a value is given twice"
		}
		seen[v] = true
		if p.Schema.Format == "date-time" {
			if detail := badTime(v); detail != "" {
				return detail
			}
		}
	}
	return ""
}

func (s *request) checkHeaders(h http.Header) {
	for name := range s.route.headers {
		given := h.Values(name)
		item := fault.Item{In: fault.InHeader, Pointer: "/" + name}
		switch {
		case len(given) > 0 && name == keyHeader:
			if item.Detail = badKey(given); item.Detail == "" {
				continue
			}
		case len(given) > 1:
			item.Detail = "the header is given more than once"
		case len(given) == 1 && !utf8.ValidString(given[0]):
			item.Detail = "the value is not UTF-8"
		default:
			continue
		}
		s.add(item)
	}
}
