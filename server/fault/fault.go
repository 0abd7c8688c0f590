// Package fault holds the errors a client may see. Whatever else an operation
// returns reaches a client as `internal`, without its text.
package fault

import (
	"fmt"
	"time"
)

// Places in a request that an Item speaks of.
const (
	InBody   = "body"
	InQuery  = "query"
	InPath   = "path"
	InHeader = "header"
)

// Item is one fault within a request. Pointer is a JSON pointer (RFC 6901)
// from the root of the body, or `/name` of the parameter or header that In
// names; an empty In means the body.
type Item struct {
	In      string `json:"in" enum:"body,query,path,header" doc:"The part of the request that is at fault."`
	Pointer string `json:"pointer" doc:"JSON pointer into the body, or / and the name of a parameter or header."`
	Detail  string `json:"detail" doc:"What is wrong with it."`
}

// Fault is an answer other than success. Status, title and meaning follow from
// Code; see Codes.
type Fault struct {
	Status     int
	Code       string
	Detail     string
	Errors     []Item
	Retryable  bool           // the same request may succeed later
	RetryAfter time.Duration  // Retry-After and retry_after_ms; 0 is absent
	Members    map[string]any // more members of the problem, such as job_id and state
	Scope      string         // the scope that a 403 misses
	Cause      error          // for the log; never sent
}

// New is a fault of a code that Codes lists; another code is a programming
// error and panics.
func New(code, detail string) *Fault {
	c, ok := Lookup(code)
	if !ok {
		panic("fault: unlisted code " + code)
	}
	return &Fault{Status: c.Status, Code: code, Detail: detail, Retryable: c.Retryable}
}

// Error is the code and the detail, with the cause if there is one.
func (f *Fault) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Detail, f.Cause)
	}
	return f.Code + ": " + f.Detail
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Title is the fixed title of the fault's code.
func (f *Fault) Title() string {
	c, _ := Lookup(f.Code)
	return c.Title
}

// Storable reports whether the fault is an outcome that an Idempotency-Key
// keeps: what is true of the rows, not of the request or the server.
func (f *Fault) Storable() bool {
	switch f.Status {
	case 404, 409, 412:
		return !f.Retryable
	}
	return false
}

// With adds a member to the problem and returns the fault.
func (f *Fault) With(name string, value any) *Fault {
	if f.Members == nil {
		f.Members = map[string]any{}
	}
	f.Members[name] = value
	return f
}

// Because keeps err for the log and returns the fault.
func (f *Fault) Because(err error) *Fault {
	f.Cause = err
	return f
}

// After says when to try again and returns the fault.
func (f *Fault) After(d time.Duration) *Fault {
	f.Retryable, f.RetryAfter = true, d
	return f
}
