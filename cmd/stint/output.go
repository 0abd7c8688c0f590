package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// maxCell is the width of a cell of a list, in characters.
const maxCell = 60

// printList prints a list: as the API's envelope, an item a line, or a table of
// the columns.
func (g *globals) printList(cmd *cobra.Command, p page, columns ...string) error {
	w := cmd.OutOrStdout()
	switch {
	case g.quiet:
		for _, item := range p.Data {
			fmt.Fprintln(w, cell(members(item)[columns[0]], columns[0]))
		}
		return nil
	case g.Output == "json":
		return printJSON(w, p)
	case g.Output == "jsonl":
		for _, item := range p.Data {
			if err := printJSON(w, item); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ToUpper(strings.Join(columns, "\t")))
	for _, item := range p.Data {
		row, of := make([]string, len(columns)), members(item)
		for i, name := range columns {
			row[i] = short(cell(of[name], name))
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil || !p.HasMore {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "there are more: use --limit N or --all")
	return nil
}

// printOne prints a resource. With -q that is its id.
func (g *globals) printOne(cmd *cobra.Command, raw json.RawMessage) error {
	w := cmd.OutOrStdout()
	if g.quiet {
		_, err := fmt.Fprintln(w, cell(members(raw)["id"], "id"))
		return err
	}
	if g.Output != "table" {
		return printJSON(w, raw)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range ordered(raw) {
		fmt.Fprintf(t, "%s\t%s\n", m.name, cell(m.value, m.name))
	}
	return t.Flush()
}

// printAction prints what an action did: the whole answer, or in a table one
// line that says it in words. With -q it is the id of what it acted on.
func (g *globals) printAction(cmd *cobra.Command, raw json.RawMessage, id, words string) error {
	w := cmd.OutOrStdout()
	switch {
	case g.quiet:
		words = id
	case g.Output != "table":
		return printJSON(w, raw)
	}
	_, err := fmt.Fprintln(w, readable(words))
	return err
}

// printJSON prints one line and leaves the spelling of JSON values alone.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(raw, &m) // it was decoded before
	return m
}

type member struct {
	name  string
	value json.RawMessage
}

// ordered is the members of an object in the order they came.
func ordered(raw json.RawMessage) (all []member) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token() // {
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		all = append(all, member{fmt.Sprint(name), value})
	}
	return all
}

// cell is a value for a person: strings without quotes, null as nothing, times
// to the second, and no character that a terminal would act on.
func cell(value json.RawMessage, name string) string {
	text := string(value)
	var s string
	switch {
	case len(value) == 0 || text == "null":
		return "-"
	case json.Unmarshal(value, &s) == nil:
		text = s
	case value[0] == '{':
		text = count(value)
	}
	if strings.HasSuffix(name, "_at") && len(text) > len("2006-01-02T15:04:05") {
		text = text[:len("2006-01-02T15:04:05")] + "Z"
	}
	return printable(text)
}

// count is a number that may be larger than what was counted, as 2000+; any other
// object stays as it is.
func count(value json.RawMessage) string {
	var c struct {
		Value   *int64 `json:"value"`
		AtLeast *bool  `json:"at_least"`
	}
	if json.Unmarshal(value, &c) != nil || c.Value == nil || c.AtLeast == nil {
		return string(value)
	}
	if *c.AtLeast {
		return fmt.Sprintf("%d+", *c.Value)
	}
	return fmt.Sprint(*c.Value)
}

func short(s string) string {
	if r := []rune(s); len(r) > maxCell {
		return string(r[:maxCell-1]) + "…"
	}
	return s
}
