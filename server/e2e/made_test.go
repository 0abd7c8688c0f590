// What the rows of routes_test.go are made of.
package e2e

import (
	"net/http"

	"github.com/stint-run/stint/server/apitest"
)

// held is a claimed job.
type held struct{ id, token, run string }

func (j held) path(action string) string { return "/v1/jobs/" + j.id + "/" + action }

// with is the body of an action on j, with more members behind the token.
func (j held) with(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"lease_token":"` + j.token + `"` + members + `}`
}

func pending(c *apitest.Client) (id string) {
	return c.Must(201, "/v1/jobs", `{"kind":"review"}`).Str("job.id")
}

// claimed is a job of a kind of its own, claimed.
func claimed(c *apitest.Client) held {
	name := kind(c)
	c.Must(201, "/v1/jobs", `{"kind":"`+name+`","payload":{"n":1}}`)
	return claim(c, name)
}

func claim(c *apitest.Client, kind string) held {
	got := c.Must(200, "/v1/jobs/claim", `{"worker":"w-1","kinds":["`+kind+`"]}`)
	if got.Len("jobs") != 1 {
		c.T.Fatalf("claimed %s", got)
	}
	return held{got.Str("jobs.0.id"), got.Str("jobs.0.lease_token"), got.Str("jobs.0.run_id")}
}

// tracked is the repository that the owner's proposals are made to.
func tracked(c *apitest.Client) (id string) {
	a := c.Post("/v1/repos", `{"forge":"github","namespace":"Acme","name":"Site"}`)
	if a.Status != http.StatusCreated && a.Status != http.StatusOK {
		c.T.Fatalf("track: %s", a)
	}
	return a.Str("repo.id")
}

// connector is a connector with one stream.
func connector(c *apitest.Client, id string) string {
	c.Call(http.MethodPut, "/v1/connectors/"+id, `{"manifest":{"streams":[{"name":"loans","semantics":"mutable_state","primary_key":["id"]}]}}`)
	return id
}

// started is a run of a connection that has just begun.
func started(c *apitest.Client) (id string) {
	return c.Must(201, "/v1/runs", `{"connection_id":"`+connection(c, apitest.Unique("account"))+`","kind":"manual"}`).Str("run.id")
}

// connection is the active connection of an account.
func connection(c *apitest.Client, account string) (id string) {
	a := c.Post("/v1/connections", `{"connector_id":"`+connector(c, "books")+`","binding_key":"`+account+`","status":"active"}`)
	if a.Status != http.StatusCreated && a.Status != http.StatusOK {
		c.T.Fatalf("connect: %s", a)
	}
	return a.Str("connection.id")
}

// proposed is the open proposal of that head.
func proposed(c *apitest.Client, repo, head string) (id string) {
	a := c.Post("/v1/repos/"+repo+"/proposals", `{"stream":"main","head":"`+head+`","title":"t"}`)
	if a.Status != http.StatusCreated && a.Status != http.StatusOK {
		c.T.Fatalf("propose: %s", a)
	}
	return a.Str("proposal.id")
}

// shut closes a proposal that is as it was made.
func shut(c *apitest.Client, id string) {
	c.Must(200, "/v1/proposals/"+id+"/close", "", "If-Match", `"v1"`)
}

// kind is a new kind of the owner.
func kind(c *apitest.Client) (name string) {
	name = apitest.Unique("kind")
	a := c.Call(http.MethodPut, "/v1/kinds/"+name, `{"lease_seconds":60,"max_attempts":5,"backoff_base_seconds":5,"backoff_cap_seconds":3600}`)
	if a.Status != http.StatusCreated {
		c.T.Fatalf("put %s: %s", name, a)
	}
	return name
}
