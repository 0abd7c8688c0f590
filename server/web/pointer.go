package web

import "strings"

// pointer is the JSON pointer (RFC 6901) of a path. A name of a client's own
// may be long: what lies beyond 255 bytes of it is cut.
func pointer(path []string) string {
	var b strings.Builder
	for _, name := range path {
		b.WriteString(pointerTo(name))
	}
	return b.String()
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func pointerTo(name string) string {
	if len(name) > 255 {
		name = strings.ToValidUTF8(name[:255], "") + "…"
	}
	return "/" + pointerEscaper.Replace(strings.ToValidUTF8(name, "\ufffd"))
}
