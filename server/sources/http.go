package sources

import (
	"net/http"

	"github.com/stint-run/stint/server/web"
)

// Routes adds the routes of connectors, connections and their runs to the API.
func Routes(a *web.API) {
	web.List(a, web.Op{Path: "/v1/connectors", ID: "list-connectors", Summary: "List connectors, by id", Scope: web.ScopeSourcesRead}, listedConnectors)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/connectors/{id}", ID: "get-connector", Summary: "Get a connector, its manifest and its streams",
		Scope: web.ScopeSourcesRead}, getConnector)
	web.Write(a, web.Op{Method: http.MethodPut, Path: "/v1/connectors/{id}", ID: "put-connector", Summary: "Make a connector, or replace its manifest",
		Description: "201 makes one. A known one needs If-Match; an equal manifest changes nothing. Records of a stream that is declared no more stay.",
		Scope:       web.ScopeSourcesWrite, Also: []int{http.StatusCreated}, Faults: []string{"precondition_failed", "precondition_required"}}, putConnector)

	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/connections", ID: "create-connection", Summary: "Connect a source",
		Description: "A source of an owner is told by connector, kind and binding key, and connected once. 201 is a new connection; 200 met the one that there is, which stays as it is, also if it is revoked.",
		Scope:       web.ScopeSourcesWrite, Status: http.StatusCreated, Also: []int{http.StatusOK}, Faults: []string{"connection_deleted"}}, createConnection)
	web.List(a, web.Op{Path: "/v1/connections", ID: "list-connections", Summary: "List connections by connector, the oldest first",
		Description: "Those that are revoked too.", Scope: web.ScopeSourcesRead}, listedConnections)
	web.Read(a, web.Op{Method: http.MethodGet, Path: onePath, ID: "get-connection", Summary: "Get a connection, its streams, its latest runs and its devices",
		Description: "{connection} is the id of a connection, or that of a connector with one connection that is not revoked.",
		Scope:       web.ScopeSourcesRead, Faults: []string{"ambiguous"}}, getConnection)
	web.Write(a, one(http.MethodPatch, "", "rename-connection", "Rename a connection", "precondition_failed", "precondition_required"), renameConnection)
	web.Write(a, one(http.MethodPost, "/pause", "pause-connection", "Say that nobody should start runs of a connection; what it brings is taken", "state_conflict"), moveTo(Paused))
	web.Write(a, one(http.MethodPost, "/resume", "resume-connection", "Let a paused connection go on", "state_conflict"), moveTo(Active))
	web.Write(a, one(http.MethodPost, "/revoke", "revoke-connection", "End a connection for good; what it brought stays"), moveTo(Revoked))
	web.Write(a, one(http.MethodDelete, "", "delete-connection", "Delete a connection and what it brought"), deleteConnection)
	runRoutes(a)
}

// onePath is the address of one connection.
const onePath = "/v1/connections/{connection}"

// one is a route that changes one connection.
func one(method, path, id, summary string, faults ...string) web.Op {
	return web.Op{Method: method, Path: onePath + path, ID: id, Summary: summary,
		Scope: web.ScopeSourcesWrite, Faults: append(faults, "ambiguous")}
}
