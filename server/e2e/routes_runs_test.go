package e2e

import (
	"maps"

	"github.com/stint-run/stint/server/apitest"
)

// The rows of runs of connections, and of what connections brought.
func init() { maps.Copy(rows, runRows) }

var runRows = map[string]row{
	"start-run": func(c *apitest.Client) target {
		return target{body: `{"connection_id":"` + connection(c, "ada") + `","kind":"scheduled","external_run_id":"night-7","worker":"w-1","lease_seconds":90}`}
	},
	"heartbeat-run": func(c *apitest.Client) target {
		return target{param: started(c), body: `{"generation":1,"lease_seconds":600}`}
	},
	"finish-run": func(c *apitest.Client) target {
		return target{param: started(c), body: `{"generation":1,"status":"failed","terminal_reason":"login","error":{"code":"refused","message":"the <bank> said no"}}`}
	},
	"list-checkpoints": func(c *apitest.Client) target {
		id := connection(c, "ada")
		c.Must(200, "/v1/connections/"+id+"/records", `[{"stream":"loans","checkpoint":{"page":7.50}},{"checkpoint":"all"}]`)
		return target{param: id}
	},
	"list-changes": func(c *apitest.Client) target {
		id := connection(c, "ada")
		c.Must(200, "/v1/connections/"+id+"/records", `[{"stream":"loans","data":{"id":"a"},"emitted_at":"2024-05-06T07:08:09Z"},{"stream":"loans","data":{"id":"b"}},`+
			`{"stream":"loans","data":{"id":"c"}},{"stream":"loans","op":"delete","key":"a"}]`)
		return target{param: id, query: "?stream=loans&limit=3"}
	},
	"list-rejections": func(c *apitest.Client) target {
		id, _ := rejected(c)
		return target{param: id, query: "?limit=1"}
	},
	"get-rejection": func(c *apitest.Client) target {
		id, rejection := rejected(c)
		return target{param: id, also: rejection}
	},
	"discard-rejection": func(c *apitest.Client) target {
		id, rejection := rejected(c)
		return target{param: id, also: rejection}
	},
	"discard-rejections": func(c *apitest.Client) target {
		id, _ := rejected(c)
		return target{param: id}
	},
}

// rejected is a connection with two refused lines, the first of which is named.
func rejected(c *apitest.Client) (id, rejection string) {
	id = connection(c, "ada")
	got := c.Must(200, "/v1/connections/"+id+"/records", `[{"stream":"none","data":{"id":"é"}},{"stream":"loans","data":{}}]`)
	return id, got.Str("rejected.0.rejection_id")
}
