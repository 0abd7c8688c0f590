package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// remoteCommands are the commands that ask a server, with what each needs to send
// its request. {file} is a file with one line, {json} one with a JSON object.
var remoteCommands = map[string]string{
	"job enqueue":        "--kind k",
	"job list":           "",
	"job show":           "job_1",
	"job claim":          "--kinds k",
	"job heartbeat":      "job_1 --lease-token @{file}",
	"job complete":       "job_1 --lease-token @{file}",
	"job fail":           "job_1 --lease-token @{file}",
	"job snooze":         "job_1 --lease-token @{file}",
	"job release":        "job_1 --lease-token @{file}",
	"job cancel":         "job_1",
	"job retry":          "job_1",
	"run list":           "",
	"run show":           "run_1",
	"run logs":           "run_1",
	"run start":          "conn_1",
	"run heartbeat":      "run_1 --generation 1",
	"run finish":         "run_1 --generation 1 --status succeeded",
	"worker list":        "",
	"kind list":          "",
	"kind set":           "k",
	"kind pause":         "k",
	"kind resume":        "k",
	"token create":       "--scopes admin",
	"token list":         "",
	"token revoke":       "tok_1",
	"login":              "",
	"login list":         "",
	"login revoke":       "link_1",
	"lease list":         "",
	"repo track":         "--forge github --namespace a --name b",
	"repo list":          "",
	"repo show":          "repo_1",
	"repo rename":        "repo_1 --namespace a",
	"proposal create":    "repo_1 --stream s --head h --title t",
	"proposal list":      "repo_1",
	"proposal show":      "prop_1",
	"proposal merge":     "prop_1",
	"proposal close":     "prop_1",
	"proposal reopen":    "prop_1",
	"connector list":     "",
	"connector show":     "c",
	"connector put":      "c {json}",
	"source list":        "",
	"source show":        "conn_1",
	"source add":         "--connector c",
	"source rename":      "conn_1 n",
	"source pause":       "conn_1",
	"source resume":      "conn_1",
	"source revoke":      "conn_1",
	"source delete":      "conn_1",
	"source checkpoints": "c",
	"source ingest":      "--singer --connection c",
	"source import":      "{file} --connection c",
	"healthcheck":        "",
}

// localCommands ask no server, or not as a client of the API: their own tests
// have their flags.
var localCommands = []string{"serve", "dev", "work", "bench", "conformance", "doctor", "fsck", "openapi", "version", "migrate", "backup", "config"}

// meaning are flags for which empty or zero is what they mean without it.
var meaning = []string{"job fail --message", "kind set --timeout", "job claim --wait", "job enqueue --in"}

func TestFlagThatIsEmptyOrZeroIsNotDropped(t *testing.T) {
	t.Parallel()
	root := rootCmd(&globals{})
	for _, cmd := range leaves(root) {
		path := strings.TrimPrefix(cmd.CommandPath(), "stint ")
		first, _, _ := strings.Cut(path, " ")
		args, remote := remoteCommands[path]
		if !remote && !slices.Contains(localCommands, first) {
			t.Errorf("stint %s is in neither list of this test", path)
		}
		if !remote {
			continue
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			plain, code := sends(t, path, args)
			if plain == "" || code == exitUsage {
				t.Fatalf("without further flags exit code %d, and what was sent: %q", code, plain)
			}
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				nothing, tried := nothingOf[f.Value.Type()]
				if !tried || slices.Contains(meaning, path+" --"+f.Name) || strings.HasPrefix(f.Value.Type(), "stringSlice") && strings.Contains(args, "--"+f.Name) {
					return // an empty one beside another is no loss
				}
				request, code := sends(t, path, args, "--"+f.Name+"="+nothing)
				if code != exitUsage && request == plain {
					t.Errorf("--%s=%q changes nothing: exit code %d, sent %s", f.Name, nothing, code, request)
				}
			})
		})
	}
}

// nothingOf is the empty or zero value of a type of flag.
var nothingOf = map[string]string{
	"string": "", "stringSlice": "", "stringArray": "", "time": "",
	"int": "0", "int64": "0", "duration": "0s",
}

// leaves are the commands that do something themselves.
func leaves(cmd *cobra.Command) (all []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
			continue
		}
		if below := leaves(sub); len(below) > 0 {
			all = append(all, below...)
			continue
		}
		all = append(all, sub)
	}
	return all
}

// sends runs a command against a server that knows nothing, and returns the last
// request it got and the exit code.
func sends(t *testing.T, path, args string, more ...string) (request string, code int) {
	t.Helper()
	folder := t.TempDir()
	file, object := filepath.Join(folder, "line"), filepath.Join(folder, "object")
	for name, text := range map[string]string{file: "line\n", object: "{}"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var lock sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		lock.Lock()
		defer lock.Unlock()
		request = fmt.Sprintln(r.Method, r.URL, string(body))
		if key := r.Header.Get("Idempotency-Key"); len(r.Header.Values("Idempotency-Key")) > 0 && len(key) < 36 {
			request += "key " + key
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(known(r))
		fmt.Fprint(w, `{"owner":"o"}`)
	}))
	defer server.Close()
	line := strings.Fields(path + " " + strings.NewReplacer("{file}", file, "{json}", object).Replace(args))
	root := rootCmd(&globals{})
	root.SetArgs(append(append(line, "--server", server.URL, "--token-file", file), more...))
	root.SetOut(new(bytes.Buffer))
	root.SetErr(new(bytes.Buffer))
	root.SetIn(strings.NewReader(""))
	if err := execute(t.Context(), root); err != nil {
		code = exitCode(err)
	}
	lock.Lock()
	defer lock.Unlock()
	return request, code
}

// known is the status for what commands read before their request.
func known(r *http.Request) int {
	read := strings.HasPrefix(r.URL.Path, "/v1/proposals/") || strings.HasPrefix(r.URL.Path, "/v1/connections/")
	if r.URL.Path == "/v1/whoami" || r.Method == http.MethodGet && read {
		return http.StatusOK
	}
	return http.StatusNotFound
}
