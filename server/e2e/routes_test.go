package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// target is one request of a route that will succeed.
type target struct {
	param   string // of the path
	also    string // the path's second one
	query   string
	body    string
	headers []string
	names   []string // the golden file shows these entries of a list; nil: all of them
}

// row makes what a route needs, as the owner of c, and the request for it.
type row func(c *apitest.Client) target

// rows has every route of the document, by its operation id: a route without a
// row fails TestEveryRouteHasARow.
var rows = map[string]row{
	"whoami":      func(*apitest.Client) target { return target{} },
	"list-tokens": func(*apitest.Client) target { return target{query: "?limit=1"} },
	"create-token": func(*apitest.Client) target {
		return target{body: `{"name":"ci","scopes":["tokens:write"],"expires_at":"2099-01-02T03:04:05Z"}`}
	},
	"create-login-link": func(*apitest.Client) target {
		return target{body: `{"name":"ada","scopes":["tokens:write"],"ttl_seconds":60,"session_seconds":300}`}
	},
	"list-login-links": func(c *apitest.Client) target {
		link(c, `,"scopes":["tokens:write"]`)
		return target{query: "?limit=1"}
	},
	"revoke-login-link": func(c *apitest.Client) target {
		made := c.Must(201, "/v1/login-links", `{"name":"old","scopes":["tokens:write"]}`)
		return target{param: made.Str("login_link.id")}
	},
	"revoke-token": func(c *apitest.Client) target {
		made := c.Must(201, "/v1/tokens", `{"name":"old","scopes":["tokens:write"]}`)
		return target{param: made.Str("token.id"), query: "?with_made=true"}
	},

	"list-leases": func(c *apitest.Client) target {
		apitest.Await(c.T, "both works have their leases", func() bool {
			text := string(c.Get("/v1/leases").Body)
			return strings.Contains(text, `"run-reaper"`) && strings.Contains(text, `"queue-figures"`)
		})
		return target{names: []string{"queue-figures", "run-reaper"}} // other loops take theirs sooner or later
	},
	"list-workers": func(c *apitest.Client) target {
		claimed(c)
		return target{query: "?limit=1"}
	},
	"get-overview": func(c *apitest.Client) target {
		j := claimed(c)
		c.Must(200, j.path("fail"), j.with(`"error":{"code":"broken","message":"it broke"},"retryable":false`))
		return target{} // the golden answer names no time
	},

	"enqueue-job": func(*apitest.Client) target {
		return target{body: `{"kind":"review","repo":{"forge":"github","namespace":"Acme","name":"Site"},"issue_number":7,` +
			`"payload":{"b":9007199254740993,"a":"<b>&é","b2":1.50},"priority":1,"max_attempts":2,"timeout_seconds":600}`}
	},
	"enqueue-jobs": func(c *apitest.Client) target {
		c.Must(201, "/v1/jobs", `{"kind":"review","key":"taken"}`)
		return target{body: `{"items":[{"kind":"sync","key":"x"},{"kind":"sync","key":"x","payload":[1]},{"kind":"sync","key":"taken"}]}`}
	},
	"list-jobs": func(c *apitest.Client) target {
		c.Must(201, "/v1/jobs", `{"kind":"review","key":"old"}`)
		c.Must(201, "/v1/jobs", `{"kind":"review","key":"new","payload":"`+strings.Repeat("x", 5000)+`"}`)
		return target{query: "?limit=1&state=pending"}
	},
	"get-job":    func(c *apitest.Client) target { return target{param: pending(c)} },
	"cancel-job": func(c *apitest.Client) target { return target{param: pending(c)} },
	"retry-job": func(c *apitest.Client) target {
		j := claimed(c)
		c.Must(200, j.path("fail"), j.with(`"error":{"code":"broken","message":"it broke"},"retryable":false`))
		return target{param: j.id}
	},
	"claim-jobs": func(c *apitest.Client) target {
		pending(c)
		return target{body: `{"worker":"w-1","kinds":["discover","review"],"lease_seconds":30,"timeout_seconds":20}`}
	},
	"heartbeat-job": func(c *apitest.Client) target {
		j := claimed(c)
		return target{param: j.id, body: j.with(`"progress":{"done":0.50}`)}
	},
	"append-job-log": func(c *apitest.Client) target {
		j := claimed(c)
		c.Must(200, j.path("log"), j.with(`"seq":1,"text":"one\n"`))
		return target{param: j.id, body: j.with(`"seq":2,"text":"tw\u0000\n","skipped_bytes":9`)}
	},
	"complete-job": func(c *apitest.Client) target {
		j := claimed(c)
		return target{param: j.id, body: j.with(`"result":{"z":1,"a":[null]},"warning":"half a result"`)}
	},
	"fail-job": func(c *apitest.Client) target {
		j := claimed(c)
		return target{param: j.id, body: j.with(`"error":{"code":"broken","message":"it broke"},"retry_after_seconds":60`)}
	},
	"snooze-job": func(c *apitest.Client) target {
		j := claimed(c)
		return target{param: j.id, body: j.with(`"seconds":60`)}
	},
	"release-job": func(c *apitest.Client) target {
		j := claimed(c)
		return target{param: j.id, body: j.with("")}
	},
	"complete-jobs": func(c *apitest.Client) target {
		j := claimed(c)
		return target{body: `{"items":[{"id":"` + j.id + `","lease_token":"` + j.token + `","result":7},{"id":"` + pending(c) + `","lease_token":"none"}]}`}
	},

	"list-runs": func(c *apitest.Client) target {
		claimed(c)
		return target{query: "?kind=job"}
	},
	"get-run": func(c *apitest.Client) target {
		j := claimed(c)
		c.Must(200, j.path("release"), j.with(`"warning":"no \u001b[31mtime"`))
		return target{param: j.run}
	},
	"get-run-log": func(c *apitest.Client) target {
		j := claimed(c)
		c.Must(200, j.path("log"), j.with(`"seq":7,"text":"é\u001b[1m\n","skipped_bytes":9`))
		return target{param: j.run}
	},

	"track-repo": func(*apitest.Client) target {
		return target{body: `{"forge":"gitlab","namespace":"Acme/tools","name":"Site","default_stream":"main"}`}
	},
	"list-repos": func(c *apitest.Client) target {
		tracked(c)
		return target{query: "?forge=github&namespace=ACME&name=site"}
	},
	"get-repo": func(c *apitest.Client) target {
		repo := tracked(c)
		proposed(c, repo, "a")
		c.Call("PATCH", "/v1/repos/"+repo, `{"namespace":"Tools"}`)
		return target{param: repo}
	},
	"rename-repo": func(c *apitest.Client) target {
		c.Must(201, "/v1/jobs", `{"kind":"review","repo":{"forge":"github","namespace":"acme","name":"site"},"issue_number":7}`)
		return target{param: tracked(c), body: `{"host":"git.example.org:443","name":"Web"}`}
	},
	"create-proposal": func(c *apitest.Client) target {
		return target{param: tracked(c), body: `{"stream":"main","head":"fix-7","base":"4f2a","title":"Mend <the> roof","body":"It leaked.",` +
			`"url":"https://github.com/Acme/Site/pull/7","run_id":"` + claimed(c).run + `"}`}
	},
	"list-proposals": func(c *apitest.Client) target {
		repo := tracked(c)
		proposed(c, repo, "a")
		proposed(c, repo, "b")
		return target{param: repo, query: "?state=open&stream=main&limit=1"}
	},
	"get-proposal": func(c *apitest.Client) target {
		body := `{"stream":"main","head":"fix","title":"t","author":"ada","run_id":"` + claimed(c).run + `"}`
		id := c.Must(201, "/v1/repos/"+tracked(c)+"/proposals", body).Str("proposal.id")
		shut(c, id)
		return target{param: id}
	},
	"merge-proposal": func(c *apitest.Client) target {
		return target{param: proposed(c, tracked(c), "a"), headers: []string{"If-Match", `"v1"`}}
	},
	"close-proposal": func(c *apitest.Client) target {
		return target{param: proposed(c, tracked(c), "a"), headers: []string{"If-Match", `"v1"`}}
	},
	"reopen-proposal": func(c *apitest.Client) target {
		id := proposed(c, tracked(c), "a")
		shut(c, id)
		return target{param: id, headers: []string{"If-Match", `"v2"`}}
	},

	"list-kinds": func(*apitest.Client) target { return target{query: "?limit=2"} },
	"get-kind":   func(c *apitest.Client) target { return target{param: kind(c)} },
	"list-connectors": func(c *apitest.Client) target {
		connector(c, "books")
		connector(c, "mail")
		return target{query: "?limit=1"}
	},
	"get-connector": func(c *apitest.Client) target { return target{param: connector(c, "books")} },
	"put-connector": func(c *apitest.Client) target {
		return target{param: connector(c, "books"), headers: []string{"If-Match", `"v1"`}, body: `{"manifest":{"streams":[]}}`}
	},
	"create-connection": func(c *apitest.Client) target {
		return target{body: `{"connector_id":"` + connector(c, "books") + `","source_kind":"device","binding_key":"laptop"}`}
	},
	"list-connections": func(c *apitest.Client) target {
		connection(c, "ada")
		connection(c, "bob")
		return target{query: "?connector_id=books&limit=1"}
	},
	"get-connection": func(c *apitest.Client) target { return target{param: connection(c, "ada")} },
	"rename-connection": func(c *apitest.Client) target {
		return target{param: connection(c, "ada"), headers: []string{"If-Match", `"v1"`}, body: `{"display_name":"Ada's books"}`}
	},
	"pause-connection": func(c *apitest.Client) target { return target{param: connection(c, "ada")} },
	"resume-connection": func(c *apitest.Client) target {
		id := connection(c, "ada")
		c.Must(200, "/v1/connections/"+id+"/pause", "")
		return target{param: id}
	},
	"revoke-connection": func(c *apitest.Client) target { return target{param: connection(c, "ada")} },
	"delete-connection": func(c *apitest.Client) target { return target{param: connection(c, "ada")} },
	"ingest-records": func(c *apitest.Client) target {
		const lines = `{"stream":"loans","data":{"id":"1","due":40000000000000000000000000000000000000.50}}` + "\n" +
			`{"stream":"visits","data":{"id":"1"}}` + "\n" + `{"stream":"loans","checkpoint":{"page":2}}` + "\n"
		return target{param: connection(c, "ada"), query: "?batch_id=b1&device=laptop", body: lines,
			headers: []string{"Content-Type", "application/x-ndjson", "Content-SHA256", fmt.Sprintf("%x", sha256.Sum256([]byte(lines)))}}
	},

	"put-kind": func(c *apitest.Client) target {
		return target{param: kind(c), headers: []string{"If-Match", `"v1"`},
			body: `{"lease_seconds":90,"max_attempts":3,"backoff_base_seconds":2,"backoff_cap_seconds":20}`}
	},
	"pause-kind": func(c *apitest.Client) target { return target{param: kind(c)} },
	"resume-kind": func(c *apitest.Client) target {
		name := kind(c)
		c.Must(200, "/v1/kinds/"+name+"/pause", "")
		return target{param: name}
	},
}

// operation is a route as the document has it.
type operation struct {
	id, method, path string
	scope            string // "" if any token will do
	hasBody, mutates bool
	lines            bool // the body is a stream of lines, which hasBody leaves out
	noKey            bool // takes no Idempotency-Key
}

// operations reads the document that the server serves.
func operations(t *testing.T, c *apitest.Client) []operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Security    []map[string][]string
			RequestBody *struct{ Content map[string]any } `json:"requestBody"`
			Parameters  []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal(c.As("").Get("/openapi.json").Body, &doc); err != nil {
		t.Fatal(err)
	}
	var ops []operation
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for method, op := range doc.Paths[path] {
			o := operation{
				id: op.OperationID, method: strings.ToUpper(method), path: path,
				hasBody: op.RequestBody != nil, mutates: method != "get", noKey: true,
			}
			if o.hasBody && op.RequestBody.Content["application/x-ndjson"] != nil {
				o.hasBody, o.lines = false, true
			}
			for _, p := range op.Parameters {
				o.noKey = o.noKey && p.Name != "Idempotency-Key"
			}
			if len(op.Security) != 1 || len(op.Security[0]) != 1 {
				t.Errorf("%s %s has security %v", method, path, op.Security)
			} else if scopes := op.Security[0]["bearer"]; len(scopes) == 1 {
				o.scope = scopes[0]
			}
			ops = append(ops, o)
		}
	}
	slices.SortFunc(ops, func(a, b operation) int { return strings.Compare(a.id, b.id) })
	return ops
}

var pathParam = regexp.MustCompile(`\{[a-z_]+\}`)

// send calls the route with a target.
func (o operation) send(c *apitest.Client, to target) apitest.Answer {
	c.T.Helper()
	return c.Call(o.method, o.to(to)+to.query, to.body, to.headers...)
}

// to is the path with its parameters.
func (o operation) to(to target) string {
	path := o.path
	for _, param := range []string{to.param, to.also} {
		if at := pathParam.FindStringIndex(path); at != nil {
			path = path[:at[0]] + param + path[at[1]:]
		}
	}
	return path
}

func TestEveryRouteHasARow(t *testing.T) {
	t.Parallel()
	var ids []string
	for _, o := range operations(t, shared(t, store.SQLite).Client) {
		ids = append(ids, o.id)
		keyless := o.id == "create-token" || o.id == "create-login-link" || o.id == "append-job-log" || o.id == "ingest-records"
		if (o.mutates && !keyless) == o.noKey {
			t.Errorf("%s %s: takes an Idempotency-Key: %v", o.method, o.path, !o.noKey)
		}
	}
	if want := slices.Sorted(maps.Keys(rows)); !slices.Equal(ids, want) {
		t.Errorf("the document has\n%q\nand the table\n%q", ids, want)
	}
}

// eachRoute runs fn for every route, each with an owner of its own.
func eachRoute(t *testing.T, s *inProcess, fn func(t *testing.T, o operation, c *apitest.Client, owner string)) {
	t.Helper()
	for _, o := range operations(t, s.Client) {
		t.Run(o.id, func(t *testing.T) {
			owner := apitest.Unique("owner")
			fn(t, o, s.As(apitest.Token(t, s.Store, owner, "admin")).In(t), owner)
		})
	}
}

// succeeds wants a 2xx.
func succeeds(t *testing.T, o operation, a apitest.Answer) {
	t.Helper()
	if a.Status < 200 || a.Status > 299 {
		t.Errorf("%s %s: %s", o.method, o.path, a)
	}
}
