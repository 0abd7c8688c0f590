package schema

import (
	"slices"
	"testing"
)

func TestToolsGetTheURLWithoutItsPassword(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		raw, want string
		env       []string
	}{
		"plain":              {"postgres://u@h:5433/db?sslmode=disable", "postgres://u@h:5433/db?sslmode=disable", nil},
		"what is the same":   {"postgres://h/db?client_encoding=LATIN1&datestyle=German", "postgres://h/db", nil},
		"in the user part":   {"postgres://u:s%40c+ret@h/db", "postgres://u@h/db", []string{"PGPASSWORD=s@c+ret"}},
		"as a parameter":     {"postgres://h/db?user=u&password=s%26+t", "postgres://h/db?user=u", []string{"PGPASSWORD=s&+t"}},
		"several hosts":      {"postgres://u@a:1,b:2/db?target_session_attrs=read-write", "postgres://u@a:1,b:2/db?target_session_attrs=read-write", nil},
		"ours":               {"postgres://h/db?pool_max_conns=3&default_query_exec_mode=exec", "postgres://h/db", nil},
		"a setting":          {"postgres://h/db?search_path=a%20b+", "postgres://h/db?options=-c%20search_path%3Da%5C%20b%2B", nil},
		"options, a setting": {"postgres://h/db?options=-c%20x%3D1&y=2", "postgres://h/db?options=-c%20x%3D1%20-c%20y%3D2", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, env, err := ForTools(tt.raw)
			want := append([]string{"PGCLIENTENCODING=UTF8", "PGDATESTYLE=ISO"}, tt.env...)
			if err != nil || got != tt.want || !slices.Equal(env, want) {
				t.Errorf("%q %q %v, want %q %q", got, env, err, tt.want, want)
			}
		})
	}
	for _, raw := range []string{"postgres://u:a@b@h/db", "postgres://u:%zz@h/db", "postgres://h/db?sslpassword=x"} {
		if got, _, err := ForTools(raw); err == nil {
			t.Errorf("%s gave %q", raw, got)
		}
	}
}

func TestVersionsOfAnArchiveAreJudgedAsAStartWould(t *testing.T) {
	t.Parallel()
	first := Expected(Postgres)[0]
	tests := map[string]struct {
		applied map[string]string
		code    string
	}{
		"none":          {nil, ""},
		"only pending":  {map[string]string{first: ""}, ""},
		"a newer build": {map[string]string{first: "", "9999": ""}, CodeUnsupported},
		"edited":        {map[string]string{first: "feed"}, CodeEdited},
	}
	for name, tt := range tests {
		if _, err := Compare(Postgres, tt.applied); Code(err) != tt.code {
			t.Errorf("%s: %v, want code %q", name, err, tt.code)
		}
	}
}
