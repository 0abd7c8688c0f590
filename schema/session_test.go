package schema

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// awkward are settings of a role or a database that change what text means, or
// what a transaction sees.
var awkward = []string{
	"client_encoding = 'LATIN1'", "DateStyle = 'SQL, DMY'", "standard_conforming_strings = off",
	"default_transaction_isolation = 'serializable'", "IntervalStyle = 'sql_standard'", "bytea_output = 'escape'",
}

func TestSettingsOfTheDatabaseChangeNoMigration(t *testing.T) {
	t.Parallel()
	db := createdDatabase(t)
	name := db.text(t, "select current_database()")
	for _, setting := range awkward {
		admin(t, "alter database "+name+" set "+setting)
	}
	text := step{name: "0001_text.sql", postgres: `create table t (id bigint, v text); insert into t values (1, '日本 \n')`}
	index := step{name: "0002_index.sql", postgres: "-- migrate:up transaction:false\ncreate index concurrently t_by_id on t (id);\n-- migrate:down\n"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the index must not wait for the lock's own transaction
	defer cancel()
	o := db.options(text, index)
	o.URL += "&client_encoding=LATIN1&datestyle=German&Standard_Conforming_Strings=off"
	if _, err := Migrate(ctx, o); err != nil {
		t.Fatal(err)
	}
	if got := db.text(t, "select encode(convert_to(v, 'UTF8'), 'hex') from t"); got != fmt.Sprintf("%x", `日本 \n`) {
		t.Errorf("the text is stored as %s", got)
	}
}

func TestDatabaseOfAnotherEncodingIsRefusedWithAWayOut(t *testing.T) {
	t.Parallel()
	name := databaseName(t)
	admin(t, "create database "+name+" encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0")
	o := Options{URL: serverURL(t, name), FS: fixture(one)}
	_, err := Migrate(t.Context(), o)
	wantRefusal(t, err, CodeEncoding, name, "LATIN1", "stint backup create")
	wantRefusal(t, Verify(t.Context(), o), CodeEncoding, name)
	if _, err := Status(t.Context(), o); err != nil {
		t.Errorf("its versions cannot be listed: %v", err)
	}
	_, statement, _ := strings.Cut(err.Error(), "`")
	statement, _, _ = strings.Cut(statement, "`")
	t.Cleanup(func() { admin(t, "drop database if exists "+name+"_utf8") })
	admin(t, statement)
	o.URL = serverURL(t, name+"_utf8")
	if _, err := Migrate(t.Context(), o); err != nil {
		t.Errorf("the database of %s: %v", statement, err)
	}
}

func TestMissingSchemaIsNamedWithItsWayOut(t *testing.T) {
	t.Parallel()
	db := postgresDatabase(t)
	o := db.options(one)
	o.URL += "&search_path=nowhere"
	if _, err := Migrate(t.Context(), o); err == nil || !strings.Contains(err.Error(), "search_path names no schema that exists") {
		t.Error(err)
	}
}

// The refusal ends with the statement that mends it, whatever the setting is of.
func TestReadOnlySettingIsNamedWithItsWayOut(t *testing.T) {
	t.Parallel()
	role, db := newRole(t), createdDatabase(t)
	name := db.text(t, "select current_database()")
	admin(t, "grant all on database "+name+" to "+role)
	db.exec(t, "grant all on schema public to "+role)
	o := db.options(one)
	o.URL = withUser(db.url, role+":"+rolePasswordInURL)
	for _, of := range []string{"role " + role, "database " + name, "role " + role + " in database " + name} {
		admin(t, "alter "+of+" set default_transaction_read_only = on")
		_, err := Migrate(t.Context(), o)
		wantRefusal(t, err, CodeReadOnly, name)
		if strings.Contains(err.Error(), "as the owner") {
			t.Errorf("it sends to the owner: %v", err)
		}
		if _, err := Status(t.Context(), o); err != nil {
			t.Errorf("its versions cannot be listed: %v", err)
		}
		_, mend, told := strings.Cut(err.Error(), ": alter ")
		if !told {
			t.Fatalf("no statement mends it: %v", err)
		}
		admin(t, "alter "+mend)
	}
	if _, err := Migrate(t.Context(), o); err != nil {
		t.Error(err)
	}
	o.URL += "&default_transaction_read_only=on"
	o.FS = fixture(one, two)
	_, err := Migrate(t.Context(), o)
	wantRefusal(t, err, CodeReadOnly, "this connection")
	o.URL += "&target_session_attrs=any"
	if _, err = Migrate(t.Context(), o); SQLState(err) != stateReadOnly || !strings.Contains(err.Error(), "name the primary") {
		t.Errorf("on a server that was asked for: %v", err)
	}
}
