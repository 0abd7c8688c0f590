package web

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/stint-run/stint/server/fault"
)

// ETag is the entity tag of a resource's version.
func ETag(version int64) string { return `"v` + strconv.FormatInt(version, 10) + `"` }

// ETagWith is the entity tag of a version that is shown together with what
// changes beside it. As If-Match it names the version alone.
func ETagWith(version int64, beside ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(beside, "\x00")))
	return fmt.Sprintf(`"v%d-%x"`, version, sum[:4])
}

// versionOf is the tag of the version that a tag of either form names.
func versionOf(tag string) string {
	if version, beside, ok := strings.Cut(tag, "-"); ok && strings.HasPrefix(version, `"v`) && strings.HasSuffix(beside, `"`) {
		return version + `"`
	}
	return tag
}

// IfMatch is embedded in the input of a route that changes a resource with a
// version.
type IfMatch struct {
	IfMatch string `header:"If-Match" maxLength:"1024" doc:"The ETag of the version that the change was made from."`
}

// Require checks the header against the current version: 428 without it, 412
// if it names another one.
func (m IfMatch) Require(version int64) error {
	if m.IfMatch == "" {
		return fault.PreconditionRequired()
	}
	return m.Allow(version)
}

// Allow checks the header if it was sent: 412 if it names another version.
func (m IfMatch) Allow(version int64) error {
	if m.IfMatch != "" && !matches([]string{m.IfMatch}, ETag(version), false) {
		return fault.PreconditionFailed()
	}
	return nil
}

// matches reports whether a list of entity tags, or *, names tag. A weak tag
// counts only for weak comparison; the others know a version in either form.
func matches(headers []string, tag string, weak bool) bool {
	for _, h := range headers {
		for _, one := range strings.Split(h, ",") {
			one = strings.TrimSpace(one)
			if weak {
				one = strings.TrimPrefix(one, "W/")
			}
			if one == "*" || one == tag || !weak && versionOf(one) == tag {
				return true
			}
		}
	}
	return false
}
